import type { Socket } from 'node:net';

import { freePort } from '../free-port.js';
import { Cuts } from './cuts.js';
import { Gate, type GateView } from './gate.js';
import { socketOwner } from './socket-owner.js';

/**
 * The links of a cluster as this process sees them: a gate in front of every listener that other nodes connect to, and what is cut.
 * Needs Linux: it tells who connects from /proc, and nodes get loopback addresses of their own.
 */
export class Network implements AsyncDisposable {
  readonly #pids: () => ReadonlyMap<number, string>;
  readonly #gates = new Map<string, Gate[]>();
  readonly #cuts = new Cuts();

  /** `pids`: the processes of the cluster that run now, and their names. */
  constructor(pids: () => ReadonlyMap<number, string>) {
    if (process.platform !== 'linux') throw new Error('network cuts need Linux');
    this.#pids = pids;
  }

  /** A gate on a port of its own. Gives the port. */
  async atOtherPort(owner: string, port: number): Promise<number> {
    const other = await freePort();
    await this.#add(owner, { host: '127.0.0.1', port: other }, port);
    return other;
  }

  /** A gate on the same port of another loopback address. Gives the address. */
  async atOtherHost(owner: string, port: number): Promise<string> {
    await this.#add(owner, { host: '127.0.1.1', port }, port);
    return '127.0.1.1';
  }

  cut(name: string, other?: string): void {
    this.#cuts.cut(name, other);
    this.#update();
  }

  heal(name?: string, other?: string): void {
    this.#cuts.heal(name, other);
    this.#update();
  }

  /** The process has ended: connections to it are refused from now on. */
  close(owner: string): void {
    for (const gate of this.#gates.get(owner) ?? []) gate.close();
  }

  async open(owner: string): Promise<void> {
    for (const gate of this.#gates.get(owner) ?? []) await gate.open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const gates of this.#gates.values()) {
      for (const gate of gates) await gate[Symbol.asyncDispose]();
    }
  }

  async #add(owner: string, at: { host: string; port: number }, port: number): Promise<void> {
    const view: GateView = {
      dialer: (socket) => this.#dialer(socket),
      isCut: (a, b) => this.#cuts.isCut(a, b),
      isAnythingCut: () => !this.#cuts.isEmpty,
    };
    const gate = new Gate({ owner, at, target: { host: '127.0.0.1', port } }, view);
    this.#gates.set(owner, [...(this.#gates.get(owner) ?? []), gate]);
    await gate.open();
  }

  #dialer({ remotePort = 0, localPort = 0 }: Socket): string | undefined {
    const pids = this.#pids();
    const pid = socketOwner({ localPort: remotePort, remotePort: localPort }, pids.keys());
    return pid === undefined ? undefined : pids.get(pid);
  }

  #update(): void {
    for (const gates of this.#gates.values()) for (const gate of gates) gate.update();
  }
}
