/**
 * What a disk holds for good, read as rows of a partition. Checkers compare everything that leaves a process with it. Nothing
 * is cached: each look sees the disk as it is at that moment.
 */

import type { PartitionId } from '@engine/domain';
import type { KvStore, PartitionState } from '@engine/storage';

import type { SimDisk } from './disk.js';
import {
  frozenPartition,
  readOnlyStore,
  stateOf,
  type FrozenPartition,
  type RowsView,
} from './rows-view.js';

export class DurableView implements RowsView {
  readonly #disk: SimDisk;
  readonly #store: KvStore;

  constructor(disk: SimDisk) {
    this.#disk = disk;
    this.#store = readOnlyStore(disk.durable, []);
  }

  state(partition: PartitionId): PartitionState {
    return stateOf(this.#store, partition);
  }

  freeze(): (partition: PartitionId) => FrozenPartition {
    const contents = new Map(this.#disk.durable);
    const store = readOnlyStore(contents, [...contents.keys()].sort());
    return (partition) => frozenPartition(store, partition);
  }
}
