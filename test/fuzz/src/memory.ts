/** Sees memory: what one input took at once, and what all of them left behind. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes in use after a full collection, buffers included. */
export function settledBytes(): number {
  collect();
  collect();
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

/** Bytes in use now, garbage and buffers included. Costs about two microseconds. */
export function usedBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}
