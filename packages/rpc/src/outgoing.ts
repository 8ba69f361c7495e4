/**
 * What waits to be written to one stream. Everything that is offered within one turn of the event loop leaves in one batch; while
 * the peer does not take what was written, the queue grows to its limits and no further.
 *
 * Invariants: `#bytes` is the weight of what is queued; `#inFlightBytes` of what is written and not taken.
 */

import type { Scheduler } from '@engine/runtime';
import { BoundedQueue } from '@engine/stdx';

import {
  BATCH_BYTES_MAX,
  BATCH_LENGTH_MAX,
  IN_FLIGHT_BYTES_MAX,
  QUEUE_BYTES_MAX,
  QUEUE_LENGTH_MAX,
} from './limits.js';

/** Writes a batch, which may be empty after a bare `flushSoon`. `taken` is to be called when the peer has taken it. */
export type WriteBatch<Item> = (items: Item[], taken: () => void) => void;

interface Queued<Item> {
  readonly item: Item;
  readonly bytes: number;
}

export class Outgoing<Item> {
  readonly #scheduler: Scheduler;
  readonly #write: WriteBatch<Item>;
  readonly #queue = new BoundedQueue<Queued<Item>>(QUEUE_LENGTH_MAX);
  #bytes = 0;
  #inFlightBytes = 0;
  #isScheduled = false;
  /** True when a flush found the peer behind. */
  #isHeldBack = false;
  /** Changes with `clear`, so that what an old stream still reports counts no more. */
  #round = 0;

  constructor(scheduler: Scheduler, write: WriteBatch<Item>) {
    this.#scheduler = scheduler;
    this.#write = write;
  }

  get length(): number {
    return this.#queue.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False when there is no room; then nothing changed. `bytes`: about what the item weighs. */
  offer(item: Item, bytes: number): boolean {
    if (this.#bytes >= QUEUE_BYTES_MAX || !this.#queue.push({ item, bytes })) return false;
    this.#bytes += bytes;
    this.flushSoon();
    return true;
  }

  /** Calls the writer at the end of this turn, also without any item. */
  flushSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const round = this.#round;
    this.#scheduler.immediate(() => {
      if (round !== this.#round) return;
      this.#isScheduled = false;
      this.#flush();
    });
  }

  /** Forgets everything, also what is in flight. */
  clear(): void {
    this.#round += 1;
    this.#queue.clear();
    this.#bytes = 0;
    this.#inFlightBytes = 0;
    this.#isScheduled = false;
    this.#isHeldBack = false;
  }

  #flush(): void {
    const round = this.#round;
    do {
      this.#isHeldBack = this.#inFlightBytes >= IN_FLIGHT_BYTES_MAX;
      if (this.#isHeldBack) return;
      const { items, bytes } = this.#take();
      this.#inFlightBytes += bytes;
      this.#write(items, () => {
        if (round !== this.#round) return;
        this.#inFlightBytes -= bytes;
        if (this.#isHeldBack) this.flushSoon();
      });
    } while (round === this.#round && this.length > 0);
  }

  #take(): { readonly items: Item[]; readonly bytes: number } {
    const items: Item[] = [];
    let bytes = 0;
    for (let next = this.#queue.peek(); next !== undefined; next = this.#queue.peek()) {
      const isFull = items.length >= BATCH_LENGTH_MAX || bytes + next.bytes > BATCH_BYTES_MAX;
      if (items.length > 0 && isFull) break;
      this.#queue.shift();
      items.push(next.item);
      bytes += next.bytes;
    }
    this.#bytes -= bytes;
    return { items, bytes };
  }
}
