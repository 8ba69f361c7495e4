/**
 * One queue of events over virtual time. Time stands still while an event runs and jumps to the next one. Between two events
 * all promise reactions run, so an event is what happens between two waits. Events of the same instant run in an order that the
 * seed decides.
 */

import type { Cancellable } from '@engine/runtime';
import { BinaryHeap } from '@engine/stdx';

import type { Chance } from './chance.js';

/** Virtual time starts here; ms since 1970. */
export const EPOCH_MS = Date.UTC(2030, 0, 1);

interface Event {
  readonly at: number;
  /** Decides among events of one instant. */
  readonly tie: number;
  readonly sequence: number;
  readonly run: () => void;
}

/** Events in one run; more means that something goes round in circles. */
const EVENTS_MAX = 3_000_000;

/** Why `run` came back. */
export type RunEnd = 'done' | 'idle' | 'time-over' | 'too-many-events';

export class EventLoop {
  readonly #chance: Chance;
  readonly #heap = new BinaryHeap<Event>(compareEvents);
  #now = 0;
  #sequence = 0;
  #eventCount = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Ms, with fractions, since the start of the simulation. */
  get now(): number {
    return this.#now;
  }

  get eventCount(): number {
    return this.#eventCount;
  }

  get waitingCount(): number {
    return this.#heap.size;
  }

  /** Runs `fn` after `delayMs` of virtual time. */
  after(delayMs: number, fn: () => void): Cancellable {
    return this.at(this.#now + Math.max(delayMs, 0), fn);
  }

  /** Runs `fn` at a virtual time that is not in the past. */
  at(at: number, fn: () => void): Cancellable {
    const sequence = this.#sequence;
    this.#sequence += 1;
    const event: Event = {
      at: Math.max(at, this.#now),
      tie: this.#chance.float(),
      sequence,
      run: fn,
    };
    const handle = this.#heap.push(event);
    return {
      cancel: () => {
        if (handle.index >= 0) this.#heap.remove(handle);
      },
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Runs events until `isDone`, until none is left, or until virtual time would pass `until`. */
  async run(until: number, isDone: () => boolean): Promise<RunEnd> {
    await reactions();
    while (!isDone()) {
      const event = this.#heap.peek();
      if (event === undefined) return 'idle';
      if (event.at > until) return 'time-over';
      if (this.#eventCount >= EVENTS_MAX) return 'too-many-events';
      this.#heap.pop();
      this.#now = event.at;
      this.#eventCount += 1;
      event.run();
      await reactions();
    }
    return 'done';
  }
}

function compareEvents(a: Event, b: Event): number {
  return a.at - b.at || a.tie - b.tie || a.sequence - b.sequence;
}

/** Resolves when no promise reaction is left to run. */
function reactions(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
