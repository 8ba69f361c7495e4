/** Clock and scheduler of a simulation: time passes only from one planned event to the next. */

import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

interface Planned {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class VirtualTime implements Clock, Scheduler {
  #now = 0;
  #order = 0;
  readonly #planned = new Set<Planned>();

  now(): number {
    return 1_700_000_000_000 + this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  immediate(run: () => void): void {
    this.after(0, run);
  }

  after(ms: number, run: () => void): Cancellable {
    this.#order += 1;
    const planned = { at: this.#now + Math.max(0, ms), order: this.#order, run };
    this.#planned.add(planned);
    return {
      cancel: () => {
        this.#planned.delete(planned);
      },
    };
  }

  /** Lets time pass until the promise settles. Rejects when `limitMs` of virtual time have passed before. */
  async until<T>(promise: Promise<T>, limitMs = 600_000): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    const end = this.#now + limitMs;
    for (;;) {
      // Whatever runs without a timer comes first.
      await new Promise((resolve) => setImmediate(resolve));
      if (isSettled) return promise;
      const next = this.#next();
      if (next === undefined || next.at > end) throw new Error('nothing happens any more');
      this.#planned.delete(next);
      this.#now = next.at;
      next.run();
    }
  }

  #next(): Planned | undefined {
    let next: Planned | undefined;
    for (const planned of this.#planned) {
      const isSooner =
        next === undefined ||
        planned.at < next.at ||
        (planned.at === next.at && planned.order < next.order);
      if (isSooner) next = planned;
    }
    return next;
  }
}
