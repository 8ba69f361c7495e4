import { assert } from './assert.js';

/** A place in a heap, given by `push` and good for `remove` until the item has left the heap. */
export interface HeapHandle<T> {
  readonly item: T;
  /** Where the item is now; -1 once it has left. Only the heap writes it. */
  index: number;
}

/**
 * A min-heap whose items can be taken from the middle, for timers that are cancelled: push, pop and remove are O(log n).
 * Invariant: no item is smaller than its parent, and entries[handle.index] is handle for each handle inside.
 * Items that compare equal come out in no particular order; compare by a sequence number too where that matters.
 */
export class BinaryHeap<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #entries: HeapHandle<T>[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#entries.length;
  }

  peek(): T | undefined {
    return this.#entries[0]?.item;
  }

  push(item: T): HeapHandle<T> {
    const handle: HeapHandle<T> = { item, index: this.#entries.length };
    this.#entries.push(handle);
    this.#siftUp(handle);
    return handle;
  }

  pop(): T | undefined {
    const first = this.#entries[0];
    if (first === undefined) return undefined;
    this.remove(first);
    return first.item;
  }

  /** False when the item has already left. */
  remove(handle: HeapHandle<T>): boolean {
    if (handle.index < 0) return false;
    assert(this.#entries[handle.index] === handle, 'the handle belongs to another heap');
    const last = this.#entries.pop();
    assert(last !== undefined, 'an entry with an index is in the heap');
    if (last !== handle) {
      this.#place(last, handle.index);
      this.#siftUp(last);
      this.#siftDown(last);
    }
    handle.index = -1;
    return true;
  }

  clear(): void {
    for (const entry of this.#entries) entry.index = -1;
    this.#entries.length = 0;
  }

  #place(entry: HeapHandle<T>, index: number): void {
    this.#entries[index] = entry;
    entry.index = index;
  }

  #siftUp(entry: HeapHandle<T>): void {
    while (entry.index > 0) {
      const index = entry.index;
      const parent = this.#entries[(index - 1) >> 1];
      if (parent === undefined || this.#compare(parent.item, entry.item) <= 0) return;
      this.#place(entry, parent.index);
      this.#place(parent, index);
    }
  }

  #siftDown(entry: HeapHandle<T>): void {
    for (;;) {
      const index = entry.index;
      const child = this.#smallerChild(index);
      if (child === undefined || this.#compare(entry.item, child.item) <= 0) return;
      this.#place(entry, child.index);
      this.#place(child, index);
    }
  }

  #smallerChild(index: number): HeapHandle<T> | undefined {
    const left = this.#entries[index * 2 + 1];
    const right = this.#entries[index * 2 + 2];
    if (left === undefined || right === undefined) return left;
    return this.#compare(left.item, right.item) <= 0 ? left : right;
  }
}
