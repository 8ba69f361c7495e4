import { createServer, type Server, type Socket } from 'node:net';

import { Link, type Endpoint } from './link.js';

/** What the gate has to know of the others. */
export interface GateView {
  /** The name of the process that made a connection; undefined: none of the cluster. */
  dialer(socket: Socket): string | undefined;
  isCut(a: string, b: string): boolean;
  isAnythingCut(): boolean;
}

interface Passage {
  readonly socket: Socket;
  readonly link: Link;
  /** Undefined: not known yet, or none of the cluster. */
  dialer: string | undefined;
}

/** Stands in front of one listener of a process: others connect here, so that what they say to each other can be held up. */
export class Gate implements AsyncDisposable {
  readonly #owner: string;
  readonly #at: Endpoint;
  readonly #target: Endpoint;
  readonly #view: GateView;
  readonly #passages = new Set<Passage>();
  #server: Server | undefined;

  constructor(
    { owner, at, target }: { owner: string; at: Endpoint; target: Endpoint },
    view: GateView,
  ) {
    this.#owner = owner;
    this.#at = at;
    this.#target = target;
    this.#view = view;
  }

  get address(): string {
    return `${this.#at.host}:${String(this.#at.port)}`;
  }

  /** While the process lives. Without it, connections are refused, as they are by a host without that listener. */
  async open(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      this.#pass(socket);
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: this.#at.host, port: this.#at.port, backlog: 128 }, resolve);
    });
  }

  /** New connections are refused; those that are there end with the process behind them. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Looks again which links are cut. */
  update(): void {
    for (const passage of this.#passages) {
      if (this.#isCut(passage)) passage.link.cut();
      else passage.link.heal();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    for (const { link } of this.#passages) link.close();
    return Promise.resolve();
  }

  #pass(socket: Socket): void {
    const passage = { socket, dialer: undefined, link: new Link(socket, this.#target) };
    this.#passages.add(passage);
    void passage.link.closed.then(() => this.#passages.delete(passage));
    if (!this.#isCut(passage)) passage.link.heal();
  }

  /** Looking for who has connected costs milliseconds, so that waits until something is cut. */
  #isCut(passage: Passage): boolean {
    if (!this.#view.isAnythingCut()) return false;
    passage.dialer ??= this.#view.dialer(passage.socket);
    return passage.dialer !== undefined && this.#view.isCut(passage.dialer, this.#owner);
  }
}
