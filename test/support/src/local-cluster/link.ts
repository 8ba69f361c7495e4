import { connect, type Socket } from 'node:net';

/** Where a listener really is. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * One connection on its way through this process. Cut, it is as silent as a pulled cable: nothing moves, and no side learns that the
 * other one has closed. Healed, what waited goes on.
 */
export class Link {
  readonly closed: Promise<void>;
  readonly #near: Socket;
  readonly #target: Endpoint;
  #far: Socket | undefined;
  #isCut = true;
  #isBroken = false;
  #onClosed: () => void = () => undefined;

  /** Cut at first. `near`: paused. */
  constructor(near: Socket, target: Endpoint) {
    this.#near = near;
    this.#target = target;
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    this.#watch(near);
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#near.unpipe();
    this.#far?.unpipe();
    this.#near.pause();
    this.#far?.pause();
  }

  heal(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    if (this.#isBroken) this.close();
    else this.#join();
  }

  close(): void {
    this.#near.destroy();
    this.#far?.destroy();
    this.#onClosed();
  }

  #join(): void {
    if (this.#far === undefined) {
      this.#far = connect({ ...this.#target, allowHalfOpen: true });
      this.#watch(this.#far);
    }
    this.#near.pipe(this.#far);
    this.#far.pipe(this.#near);
  }

  #watch(socket: Socket): void {
    socket.setNoDelay(true);
    // The close that follows says the same.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isBroken = true;
      if (!this.#isCut) this.close();
    });
  }
}
