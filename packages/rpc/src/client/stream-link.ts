/**
 * A long-lived stream to another node: opened, greeted, and opened again after it broke. Promises nothing about what was written
 * before a break; whoever writes learns of it and repeats what needs repeating.
 *
 * Each attempt has a connection of its own, so that gRPC's hidden waits do not add to those that stand here.
 */

import { EngineError } from '@engine/domain';
import type { Cancellable, Clock, Random, Scheduler } from '@engine/runtime';
import type { ClientDuplexStream, ServiceError, Client, Metadata } from '@grpc/grpc-js';

import { isRefusal, onDown, onOpened } from '../events.js';
import { introductionToMetadata, meet, type Introduction } from '../handshake.js';
import {
  CONNECT_MS_MAX,
  RECONNECT_MS_MAX,
  RECONNECT_MS_MIN,
  REFUSED_RECONNECT_MS,
} from '../limits.js';
import type { RpcMethod } from '../method.js';
import { fromStatus } from '../status.js';
import type { Dialer } from './dialer.js';

export interface LinkDependencies {
  readonly dialer: Dialer;
  readonly introduction: Introduction;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

/** What the owner of a link hears. */
export interface LinkListener<Response> {
  onOpen(): void;
  onMessage(message: Response): void;
  /** The stream that was open is gone. Not called for attempts that failed. */
  onBroken(): void;
}

interface Attempt<Request, Response> {
  readonly client: Client;
  readonly stream: ClientDuplexStream<Request, Response>;
  readonly limit: Cancellable;
}

export class StreamLink<Request, Response> {
  readonly address: string;
  readonly #method: RpcMethod<Request, Response>;
  readonly #dependencies: LinkDependencies;
  readonly #listener: LinkListener<Response>;
  #attempt: Attempt<Request, Response> | undefined;
  #isOpen = false;
  #openedAt = 0;
  #waitMs = RECONNECT_MS_MIN;
  #retry: Cancellable | undefined;
  #isStopped = false;
  /** What the last failure said: repeats of it are no news. */
  #lastFailure: string | undefined;

  constructor(
    to: { readonly address: string; readonly method: RpcMethod<Request, Response> },
    dependencies: LinkDependencies,
    listener: LinkListener<Response>,
  ) {
    this.address = to.address;
    this.#method = to.method;
    this.#dependencies = dependencies;
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Begins to connect. It goes on until `stop`. */
  start(): void {
    this.#connect();
  }

  /** Only while open. `taken` is called when the peer has taken the message, never after a break. */
  write(message: Request, taken: () => void): void {
    this.#attempt?.stream.write(message, taken);
  }

  /** Closes the stream at once. The listener hears `onBroken` if it was open. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#retry?.cancel();
    const wasOpen = this.#close();
    if (wasOpen) this.#listener.onBroken();
  }

  #connect(): void {
    this.#retry = undefined;
    const { dialer, introduction, scheduler } = this.#dependencies;
    const { path, requestSerialize, responseDeserialize } = this.#method;
    const client = dialer.dial(this.address);
    const stream = client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      introductionToMetadata(introduction),
    );
    const limit = scheduler.after(CONNECT_MS_MAX, () => {
      down(new EngineError('unavailable', 'no greeting came in time'));
    });
    const attempt = { client, stream, limit };
    this.#attempt = attempt;
    const down = (error: unknown): void => {
      if (this.#attempt === attempt) this.#down(error);
    };
    stream.on('metadata', (metadata: Metadata) => {
      if (this.#attempt === attempt && !this.#isOpen) this.#greeted(attempt, metadata);
    });
    stream.on('error', (error: ServiceError) => {
      down(fromStatus(error));
    });
    stream.on('end', () => {
      down(new EngineError('unavailable', 'the other node closed the stream'));
    });
  }

  #greeted(attempt: Attempt<Request, Response>, metadata: Metadata): void {
    attempt.limit.cancel();
    try {
      const node = meet(this.#dependencies.introduction, metadata);
      onOpened(this.address, node.nodeId);
    } catch (error) {
      this.#down(error);
      return;
    }
    this.#isOpen = true;
    this.#openedAt = this.#dependencies.clock.monotonic();
    this.#lastFailure = undefined;
    attempt.stream.on('data', (message: Response) => {
      if (this.#attempt === attempt) this.#listener.onMessage(message);
    });
    this.#listener.onOpen();
  }

  #down(error: unknown): void {
    const { clock, scheduler } = this.#dependencies;
    const wasOpen = this.#close();
    const failure = String(error);
    onDown(this.address, error, failure !== this.#lastFailure);
    this.#lastFailure = failure;
    // A stream that broke at once says nothing good about the next one.
    const wasSteady = wasOpen && clock.monotonic() - this.#openedAt > RECONNECT_MS_MAX;
    if (wasSteady) this.#waitMs = RECONNECT_MS_MIN;
    const waitMs = isRefusal(error) ? REFUSED_RECONNECT_MS : this.#waitMs;
    this.#waitMs = Math.min(this.#waitMs * 2, RECONNECT_MS_MAX);
    this.#retry = scheduler.after(this.#jittered(waitMs), () => {
      this.#connect();
    });
    if (wasOpen) this.#listener.onBroken();
  }

  #jittered(ms: number): number {
    return ms * (0.5 + this.#dependencies.random.float() / 2);
  }

  #close(): boolean {
    const attempt = this.#attempt;
    const wasOpen = this.#isOpen;
    this.#attempt = undefined;
    this.#isOpen = false;
    if (attempt === undefined) return wasOpen;
    attempt.limit.cancel();
    // What still comes of it is looked at by nobody; an error without a listener would end the process, so those stay.
    attempt.stream.cancel();
    attempt.client.close();
    return wasOpen;
  }
}
