/** The rows of partitions as checkers look at them: what cannot be lost any more, at this moment. */

import type { PartitionId } from '@engine/domain';
import { PartitionScan, PartitionState, type KvStore } from '@engine/storage';

import type { DiskKey } from './disk.js';
import { diskKey, readPage } from './kv-store.js';

/** Rows are looked at under this generation, whatever the one of the store they come from. */
export const GENERATION = 0;

const CACHE_NOTHING = { rowsMax: 2, bytesMax: 1 };

export interface RowsView {
  /** Point reads. Good until the next event. */
  state(partition: PartitionId): PartitionState;
  /** The rows as they are now, kept for slower looks at all of them. */
  freeze(): (partition: PartitionId) => FrozenPartition;
}

export interface FrozenPartition {
  readonly scan: PartitionScan;
  readonly state: PartitionState;
}

export function stateOf(store: KvStore, partition: PartitionId): PartitionState {
  return new PartitionState(
    { place: { partition, generation: GENERATION }, cacheLimits: CACHE_NOTHING },
    store,
  );
}

export function frozenPartition(store: KvStore, partition: PartitionId): FrozenPartition {
  const scan = new PartitionScan({ partition, generation: GENERATION }, store);
  return { scan, state: stateOf(store, partition) };
}

/** A store over rows in memory. `sortedKeys`: for scans; without them only point reads find something. */
export function readOnlyStore(
  contents: ReadonlyMap<DiskKey, Uint8Array>,
  sortedKeys: readonly DiskKey[],
): KvStore {
  return {
    get: (key) => contents.get(diskKey(key))?.slice(),
    batch: () => {
      throw new Error('checkers do not write');
    },
    scan: (range) => Promise.resolve(readPage(sortedKeys, (key) => contents.get(key), range)),
    close: () => Promise.resolve(),
  };
}
