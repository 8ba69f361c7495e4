/** Introspection of the partitions that are led here, one behind the other. It fails rather than leave one out that it was asked for. */

import {
  partitionKeyOfObject,
  partitionOfInvocation,
  partitionOfKey,
  toPartitionId,
  type Hashes,
  type InvocationId,
  type KeySpace,
  type PartitionId,
} from '@engine/domain';
import type { Clock } from '@engine/runtime';
import type {
  InvocationScan,
  InvocationSnapshot,
  JournalScan,
  JournalScanOptions,
  JournalSnapshot,
  ScanOptions,
  StateScan,
  StateScanOptions,
  StateSnapshot,
} from '@engine/wire';

import { notLed, type Partition } from './partition.js';
import { snapshotOf, snapshots } from './snapshots.js';
import { journalSnapshots, stateSnapshots } from './stored-snapshots.js';

export interface LedScansDependencies {
  readonly partitionCount: number;
  readonly hashes: Hashes;
  readonly clock: Clock;
  /** The partition, while it is led here. */
  readonly led: (id: PartitionId) => Partition | undefined;
}

/** Partitions that a scan goes through. */
interface ScanRange {
  readonly from: PartitionId | undefined;
  readonly isOnly?: boolean;
  readonly only: PartitionId | undefined;
  readonly limit: number;
}

/** Each throws EngineError `unavailable`, not-leader, for a partition that was asked for and is not led, or not any more. */
export class LedScans implements InvocationScan, JournalScan, StateScan {
  readonly #dependencies: LedScansDependencies;
  readonly #keySpace: KeySpace;

  constructor(dependencies: LedScansDependencies) {
    this.#dependencies = dependencies;
    const { partitionCount, hashes } = dependencies;
    this.#keySpace = { partitionCount, hashes };
  }

  async *scan(options: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    if (options.ids !== undefined) {
      if (options.partition !== undefined) this.#require(options.partition);
      yield* this.#scanIds(options.ids.slice(0, options.limit));
      return;
    }
    const { after, limit, partition: only } = options;
    const from = after === undefined ? undefined : this.#partitionOf(after);
    const now = this.#dependencies.clock.now();
    yield* this.#inTurn({ from, only, limit }, (partition, isFirst) =>
      snapshots(partition, isFirst ? after : undefined, now),
    );
  }

  async *scanJournal(options: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    const { id, limit, after, partition: only } = options;
    const start = id ?? after?.id;
    const from = start === undefined ? undefined : this.#partitionOf(start);
    const now = this.#dependencies.clock.now();
    yield* this.#inTurn({ from, isOnly: id !== undefined, only, limit }, (partition, isFirst) =>
      journalSnapshots(partition, { id, after: isFirst ? after : undefined }, now),
    );
  }

  async *scanState(options: StateScanOptions): AsyncGenerator<StateSnapshot> {
    const { service, after, limit, partition: only } = options;
    const key = service === undefined ? undefined : options.key;
    const start = key ?? after?.key;
    const from = start === undefined ? undefined : partitionOfKey(start, this.#keySpace);
    const keyOf = this.#partitionKeyOf;
    yield* this.#inTurn({ from, isOnly: key !== undefined, only, limit }, (partition, isFirst) =>
      stateSnapshots(partition, { service, key, after: isFirst ? after : undefined }, keyOf),
    );
  }

  /**
   * What `read` finds in the partitions, one behind the other: from `from` on, or only there; of those, only in `only`. At least
   * one, if there is one.
   */
  async *#inTurn<Found>(
    range: ScanRange,
    read: (partition: Partition, isFirst: boolean) => AsyncIterable<Found>,
  ): AsyncGenerator<Found> {
    const first = range.from ?? 0;
    let left = range.limit;
    for (const partition of this.#partitionsOf(range)) {
      await partition.current();
      for await (const found of read(partition, partition.id === first)) {
        if (!partition.isServing) throw notLed(partition.id);
        yield found;
        left -= 1;
        if (left <= 0) return;
      }
    }
  }

  #partitionsOf({ from = toPartitionId(0), isOnly, only }: ScanRange): readonly Partition[] {
    const end = isOnly === true ? from + 1 : this.#dependencies.partitionCount;
    if (only !== undefined) {
      const partition = this.#require(only);
      return only >= from && only < end ? [partition] : [];
    }
    const partitions: Partition[] = [];
    for (let id: number = from; id < end; id += 1) {
      const partition = this.#dependencies.led(toPartitionId(id));
      if (partition !== undefined) partitions.push(partition);
    }
    return partitions;
  }

  async *#scanIds(ids: readonly InvocationId[]): AsyncGenerator<InvocationSnapshot> {
    const checked = new Set<Partition>();
    for (const id of ids) {
      const partition = this.#require(this.#partitionOf(id));
      if (!checked.has(partition)) await partition.current();
      checked.add(partition);
      const found = snapshotOf(partition, id, this.#dependencies.clock.now());
      if (found !== undefined) yield found;
    }
  }

  #require(id: PartitionId): Partition {
    const partition = this.#dependencies.led(id);
    if (partition === undefined) throw notLed(id);
    return partition;
  }

  readonly #partitionOf = (id: InvocationId): PartitionId =>
    partitionOfInvocation(id, this.#dependencies.partitionCount);

  readonly #partitionKeyOf = (key: string): bigint =>
    partitionKeyOfObject(key, this.#dependencies.hashes);
}
