/** Clock and scheduler of a test: time passes only when the test says so, timer by timer. */

import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

interface Planned {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class VirtualTime implements Clock, Scheduler {
  #now = 1_000;
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

  /** Lets `ms` pass, and whatever they bring happen. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) {
      this.#planned.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settled();
    }
    this.#now = end;
  }

  /** The process stands still for `ms`: timers that were due run only afterwards. */
  standStill(ms: number): void {
    this.#now += ms;
  }

  /** Lets time pass until the promise settles. Rejects when `limitMs` have passed before. */
  async until<T>(promise: Promise<T>, limitMs = 120_000): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (const end = this.#now + limitMs; this.#now < end;) {
      await settled();
      if (isSettled) return promise;
      await this.pass(50);
    }
    throw new Error(`nothing has come of it in ${String(limitMs)} ms`);
  }

  /** Lets time pass until `predicate` holds. Rejects when `limitMs` have passed before. */
  async untilTrue(what: string, predicate: () => boolean, limitMs = 120_000): Promise<void> {
    for (const end = this.#now + limitMs; !predicate();) {
      if (this.#now >= end) throw new Error(`not within ${String(limitMs)} ms: ${what}`);
      await this.pass(50);
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

/** What runs without a timer has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
