/** A clock and a scheduler that only a test moves. Everything runs on one thread in the order in which it was asked for. */

import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** Promises that a step of the program may chain before it asks the scheduler again. */
const PROMISE_TURNS = 3;

/** A program that is still busy after so many turns without time passing is in a loop. */
const TURNS_MAX = 10_000;

export class VirtualTime implements Clock, Scheduler {
  #now: number;
  #order = 0;
  #immediate: (() => void)[] = [];
  readonly #waiting = new Set<Waiting>();

  constructor(startAt = 1_700_000_000_000) {
    this.#now = startAt;
  }

  get timerCount(): number {
    return this.#waiting.size;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  immediate(fn: () => void): void {
    this.#immediate.push(fn);
  }

  after(ms: number, fn: () => void): Cancellable {
    const waiting = { at: this.#now + Math.ceil(Math.max(0, ms)), order: this.#order, fn };
    this.#order += 1;
    this.#waiting.add(waiting);
    return {
      cancel: () => {
        this.#waiting.delete(waiting);
      },
    };
  }

  /** Runs what can run without time passing. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < TURNS_MAX; turns += 1) {
      await promisesSettled();
      const turn = this.#immediate;
      if (turn.length === 0) return;
      this.#immediate = [];
      for (const fn of turn) fn();
    }
    throw new Error('the program is busy without end');
  }

  /** Lets time pass, timer by timer. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + Math.ceil(ms);
    await this.settle();
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) {
      this.#waiting.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.fn();
      await this.settle();
    }
    this.#now = end;
  }

  #next(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const waiting of this.#waiting) {
      const isSooner =
        first === undefined ||
        waiting.at < first.at ||
        (waiting.at === first.at && waiting.order < first.order);
      if (isSooner) first = waiting;
    }
    return first;
  }
}

async function promisesSettled(): Promise<void> {
  for (let turn = 0; turn < PROMISE_TURNS; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
