/**
 * Memory for the payloads that attempts hold: journals and states that they replay, messages that are on their way in. One budget
 * for a worker; who finds no room waits, first come, first served.
 *
 * The two uses have parts of their own: what an attempt still says can always be stored, so those that hold memory come to an end.
 */

import type { Scheduler } from '@engine/runtime';

/** Smaller payloads are not counted: the number of attempts bounds them. */
export const SMALL_PAYLOAD_BYTES_MAX = 64 * 1024;

/** Part of the budget for messages that are on their way in. */
const RECEIVED_PART = 1 / 4;

/** Somebody who waits for room. */
export interface MemoryClaimant {
  /** There is room, and it is taken. Called in a turn of its own. */
  onMemory(): void;
}

export class PayloadMemory {
  readonly replayed: MemoryPool;
  readonly received: MemoryPool;

  constructor(bytesMax: number, scheduler: Scheduler) {
    const receivedMax = Math.floor(bytesMax * RECEIVED_PART);
    this.received = new MemoryPool(receivedMax, scheduler);
    this.replayed = new MemoryPool(bytesMax - receivedMax, scheduler);
  }
}

export class MemoryPool {
  readonly #bytesMax: number;
  readonly #scheduler: Scheduler;
  /** In the order of their claims. */
  readonly #waiting = new Map<MemoryClaimant, number>();
  #usedBytes = 0;
  #isGrantPlanned = false;

  constructor(bytesMax: number, scheduler: Scheduler) {
    this.#bytesMax = bytesMax;
    this.#scheduler = scheduler;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** True: taken. False: `claimant` hears when it is. A claim that is alone has room whatever its size. */
  claim(claimant: MemoryClaimant, bytes: number): boolean {
    if (this.#waiting.size === 0 && this.#hasRoom(bytes)) {
      this.#usedBytes += bytes;
      return true;
    }
    this.#waiting.set(claimant, bytes);
    return false;
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.#usedBytes -= bytes;
    this.#planGrants();
  }

  /** Waits no longer. Nothing happens when it does not wait. */
  withdraw(claimant: MemoryClaimant): void {
    if (this.#waiting.delete(claimant)) this.#planGrants();
  }

  #hasRoom(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + bytes <= this.#bytesMax;
  }

  #planGrants(): void {
    if (this.#isGrantPlanned || this.#waiting.size === 0) return;
    this.#isGrantPlanned = true;
    this.#scheduler.immediate(this.#grant);
  }

  readonly #grant = (): void => {
    this.#isGrantPlanned = false;
    for (const [claimant, bytes] of this.#waiting) {
      if (!this.#hasRoom(bytes)) return;
      this.#waiting.delete(claimant);
      this.#usedBytes += bytes;
      claimant.onMemory();
    }
  };
}
