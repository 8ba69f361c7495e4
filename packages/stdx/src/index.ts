export { assert, assertNever, AssertionError } from './assert.js';
export { BinaryHeap, type HeapHandle } from './binary-heap.js';
export { BoundedQueue } from './bounded-queue.js';
export {
  compareBytes,
  concatBytes,
  decodeUtf8,
  decodeUtf8Strict,
  EMPTY_BYTES,
  encodeUtf8,
  equalBytes,
  startsWithBytes,
} from './bytes.js';
export { Deferred } from './deferred.js';
export { fromHex, toHex } from './hex.js';
