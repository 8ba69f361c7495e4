import { assert } from './assert.js';

/**
 * A first-in first-out ring with a limit. It never grows past `lengthMax` and never throws away: `push` says no, and the
 * caller answers "busy" or waits. Invariant: 0 ≤ length ≤ lengthMax; the slots outside the filled stretch hold nothing.
 */
export class BoundedQueue<T> {
  readonly lengthMax: number;
  #slots: (T | undefined)[];
  #mask: number;
  #head = 0;
  #length = 0;

  /** The ring starts small and doubles as it fills, so that a thousand idle queues cost little. */
  constructor(lengthMax: number) {
    assert(Number.isInteger(lengthMax) && lengthMax > 0, 'a queue needs a positive limit');
    this.lengthMax = lengthMax;
    this.#slots = new Array<T | undefined>(FIRST_SLOTS).fill(undefined);
    this.#mask = FIRST_SLOTS - 1;
  }

  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get isFull(): boolean {
    return this.#length >= this.lengthMax;
  }

  /** False when the queue is full; then nothing changed. */
  push(item: T): boolean {
    if (this.isFull) return false;
    if (this.#length > this.#mask) this.#double();
    this.#slots[(this.#head + this.#length) & this.#mask] = item;
    this.#length += 1;
    return true;
  }

  peek(): T | undefined {
    return this.#length === 0 ? undefined : this.#slots[this.#head];
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & this.#mask;
    this.#length -= 1;
    return item;
  }

  /** Takes up to `countMax` items in order. */
  drain(countMax = this.#length): T[] {
    const items: T[] = [];
    while (items.length < countMax && this.#length > 0) items.push(this.shift() as T);
    return items;
  }

  clear(): void {
    this.#slots.fill(undefined);
    this.#head = 0;
    this.#length = 0;
  }

  #double(): void {
    const slots = new Array<T | undefined>(this.#slots.length * 2).fill(undefined);
    for (let i = 0; i < this.#length; i += 1) {
      slots[i] = this.#slots[(this.#head + i) & this.#mask];
    }
    this.#slots = slots;
    this.#mask = slots.length - 1;
    this.#head = 0;
  }
}

// A power of two, so that the place in the ring is a mask and not a division.
const FIRST_SLOTS = 8;
