/**
 * Deadlines of many attempts behind one scheduler timer. Moving a deadline later, which each frame does, only writes a field:
 * the place in the heap is put right when the old deadline passes.
 */

import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
import { BinaryHeap, type HeapHandle } from '@engine/stdx';

export interface Deadline {
  /** Called once, not before the deadline; by then it is no longer set. */
  onDeadline(): void;
}

interface Entry {
  readonly target: Deadline;
  /** Monotonic ms at which the heap looks at the entry. */
  readonly wakeAt: number;
  /** Monotonic ms of the deadline, at or after `wakeAt`. */
  dueAt: number;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #heap = new BinaryHeap<Entry>((a, b) => a.wakeAt - b.wakeAt);
  readonly #handles = new Map<Deadline, HeapHandle<Entry>>();
  #armed: Cancellable | undefined;
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, scheduler: Scheduler) {
    this.#clock = clock;
    this.#scheduler = scheduler;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** Sets or moves the one deadline of a target. */
  set(target: Deadline, delayMs: number): void {
    const dueAt = this.#clock.monotonic() + delayMs;
    const handle = this.#handles.get(target);
    if (handle !== undefined && handle.item.wakeAt <= dueAt) {
      handle.item.dueAt = dueAt;
      return;
    }
    if (handle !== undefined) this.#heap.remove(handle);
    this.#push({ target, wakeAt: dueAt, dueAt });
    if (dueAt < this.#armedFor) this.#arm();
  }

  clear(target: Deadline): void {
    const handle = this.#handles.get(target);
    if (handle === undefined) return;
    this.#handles.delete(target);
    this.#heap.remove(handle);
    if (this.#heap.size === 0) this.#disarm();
  }

  #push(entry: Entry): void {
    this.#handles.set(entry.target, this.#heap.push(entry));
  }

  #disarm(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  #arm(): void {
    this.#disarm();
    const first = this.#heap.peek();
    if (first === undefined) return;
    this.#armedFor = first.wakeAt;
    // Rounded up: a timer that comes a fraction early would find nothing due.
    const delayMs = Math.ceil(Math.max(first.wakeAt - this.#clock.monotonic(), 0));
    this.#armed = this.#scheduler.after(delayMs, this.#wake);
  }

  readonly #wake = (): void => {
    const now = this.#clock.monotonic();
    for (;;) {
      const entry = this.#heap.peek();
      if (entry === undefined || entry.wakeAt > now) break;
      this.#heap.pop();
      if (entry.dueAt > now) {
        this.#push({ target: entry.target, wakeAt: entry.dueAt, dueAt: entry.dueAt });
      } else {
        this.#handles.delete(entry.target);
        entry.target.onDeadline();
      }
    }
    this.#arm();
  };
}
