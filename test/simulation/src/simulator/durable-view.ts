/**
 * What a disk holds for good, read as rows of a partition. Checkers compare everything that leaves a process with it. Nothing
 * is cached: each look sees the disk as it is at that moment.
 */

import type { PartitionId } from '@engine/domain';
import { PartitionScan, PartitionState, type KvStore } from '@engine/storage';

import type { DiskKey, SimDisk } from './disk.js';
import { diskKey, readPage } from './kv-store.js';

/** Embedded stores keep each partition under its first generation. */
export const GENERATION = 0;

const CACHE_NOTHING = { rowsMax: 2, bytesMax: 1 };

export class DurableView {
  readonly #disk: SimDisk;
  readonly #store: KvStore;

  constructor(disk: SimDisk) {
    this.#disk = disk;
    this.#store = readOnlyStore(disk.durable, []);
  }

  /** Point reads of the rows that are durable now. Good until the next event. */
  state(partition: PartitionId): PartitionState {
    const options = { place: { partition, generation: GENERATION }, cacheLimits: CACHE_NOTHING };
    return new PartitionState(options, this.#store);
  }

  /** The rows that are durable now, kept for slower looks at all of them. */
  freeze(): (partition: PartitionId) => FrozenPartition {
    const contents = new Map(this.#disk.durable);
    const store = readOnlyStore(contents, [...contents.keys()].sort());
    return (partition) => {
      const place = { partition, generation: GENERATION };
      return {
        scan: new PartitionScan(place, store),
        state: new PartitionState({ place, cacheLimits: CACHE_NOTHING }, store),
      };
    };
  }
}

export interface FrozenPartition {
  readonly scan: PartitionScan;
  readonly state: PartitionState;
}

function readOnlyStore(
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
