import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

import type { VirtualTime } from './virtual-time.js';

/** The time of one process: it can be frozen while that of others goes on. What was due meanwhile runs when it is thawed. */
export class ProcessTime implements Clock, Scheduler {
  readonly #time: VirtualTime;
  #due: (() => void)[] | undefined;
  /** How far the clock of this machine is ahead. */
  offsetMs = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get isFrozen(): boolean {
    return this.#due !== undefined;
  }

  now(): number {
    return this.#time.now() + this.offsetMs;
  }

  monotonic(): number {
    return this.#time.monotonic();
  }

  immediate(fn: () => void): void {
    this.#time.immediate(this.whenAwake(fn));
  }

  after(ms: number, fn: () => void): Cancellable {
    let isCancelled = false;
    const timer = this.#time.after(
      ms,
      this.whenAwake(() => {
        if (!isCancelled) fn();
      }),
    );
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  /** The function, called later when the process is frozen then. */
  whenAwake<Args extends readonly unknown[]>(fn: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      if (this.#due === undefined) fn(...args);
      else
        this.#due.push(() => {
          fn(...args);
        });
    };
  }

  freeze(): void {
    this.#due ??= [];
  }

  thaw(): void {
    const due = this.#due ?? [];
    this.#due = undefined;
    for (const fn of due) fn();
  }
}
