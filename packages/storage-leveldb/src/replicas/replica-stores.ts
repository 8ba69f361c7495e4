/**
 * The replicas of all partitions of a worker, in one LevelDB.
 *
 * Promises: what is opened is whole and of a format that this code reads. A restored generation counts when it is complete, verified
 * and on the disk; a restore that ends before, however it ends, leaves the old one as it was.
 */

import { EngineError, isEngineError, type PartitionId } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import { systemScheduler, type Scheduler } from '@engine/runtime';
import {
  PARTITION_PREFIX_BYTES,
  partitionPrefix,
  prefixEnd,
  type KvEntry,
  type KvStore,
  type PartitionPlace,
  type RangeReader,
} from '@engine/storage';

import { ChainRows } from '../chain-rows.js';
import { Replica } from '../replica.js';
import { WriteBehind } from '../write-behind.js';
import { Generations } from './generations.js';
import { OpenReplica } from './open-replica.js';
import { Sweeper } from './sweeper.js';

/** Where a restore puts the rows of one snapshot. */
export interface RestoreTarget {
  /** Durable when it resolves. Keys are relative to the partition. One at a time. */
  write(rows: readonly KvEntry[]): Promise<void>;
  /** What is wrong with what was written, undefined when it is a whole partition that stands at `position`. */
  problem(position: LogPosition): Promise<string | undefined>;
}

/** Where restores come from. */
export interface RestoreSource {
  /**
   * Reads the newest snapshot of the partition that can be verified. `begin` opens a target for each that is tried; the last one
   * has the rows. Resolves with their position, undefined when there is no snapshot; then no target counts.
   */
  restore(
    partition: PartitionId,
    begin: () => RestoreTarget,
    signal: AbortSignal,
  ): Promise<LogPosition | undefined>;
}

export type ReplicaStoresEvent =
  /** A new generation counts. `position` is LOG_START when there was no snapshot. */
  | {
      readonly kind: 'restored';
      readonly place: PartitionPlace;
      readonly position: LogPosition;
    }
  | { readonly kind: 'swept'; readonly place: PartitionPlace; readonly rows: number }
  | { readonly kind: 'sweep-failed'; readonly place: PartitionPlace; readonly error: unknown };

export interface LevelReplicaStoresOptions {
  /** Write buffer of the store. */
  readonly writeBufferBytes?: number | undefined;
}

export interface LevelReplicaStoresDependencies {
  /** Of kind REPLICA_STORE. Stays open when the replicas are closed. */
  readonly store: KvStore & RangeReader;
  /** Undefined: there are no snapshots. */
  readonly source?: RestoreSource | undefined;
  readonly onEvent?: (event: ReplicaStoresEvent) => void;
  /** Default: that of the process. */
  readonly scheduler?: Scheduler;
}

export class LevelReplicaStores implements AsyncDisposable {
  readonly #options: LevelReplicaStoresOptions;
  readonly #store: KvStore & RangeReader;
  readonly #scheduler: Scheduler;
  readonly #source: RestoreSource | undefined;
  readonly #onEvent: (event: ReplicaStoresEvent) => void;
  readonly #generations: Generations;
  readonly #sweeper: Sweeper;
  readonly #opened = new Map<PartitionId, OpenReplica>();
  /** Of the replicas that were opened since the last failure. */
  #writes: WriteBehind;
  readonly #closing = new AbortController();
  /** What is being opened or restored, per partition: one after the other. */
  readonly #tails = new Map<PartitionId, Promise<unknown>>();

  private constructor(
    options: LevelReplicaStoresOptions,
    {
      store,
      source,
      onEvent = () => undefined,
      scheduler = systemScheduler,
    }: LevelReplicaStoresDependencies,
  ) {
    this.#options = options;
    this.#store = store;
    this.#scheduler = scheduler;
    this.#writes = new WriteBehind({ store, scheduler });
    this.#source = source;
    this.#onEvent = onEvent;
    this.#generations = new Generations(store);
    this.#sweeper = new Sweeper({
      generations: this.#generations,
      onSwept: (place, rows) => {
        onEvent({ kind: 'swept', place, rows });
      },
      onFailed: (place, error) => {
        onEvent({ kind: 'sweep-failed', place, error });
      },
    });
  }

  /** Finds what restores have left behind, and deletes it from then on. */
  static async open(
    options: LevelReplicaStoresOptions,
    dependencies: LevelReplicaStoresDependencies,
  ): Promise<LevelReplicaStores> {
    const stores = new LevelReplicaStores(options, dependencies);
    for (const place of await stores.#generations.rubbish()) stores.#sweeper.add(place);
    return stores;
  }

  /**
   * Opens the replica as it is on disk. One that was opened before takes nothing more.
   *
   * Throws EngineError `storage` when it lost writes from its middle: restore it. Throws EngineError META0011 when a newer server
   * wrote it.
   */
  open(partition: PartitionId): Promise<OpenReplica> {
    return this.#inTurn(partition, async () => {
      await this.#opened.get(partition)?.retire();
      const place = this.#generations.current(partition) ?? (await this.#begin(partition));
      return this.#openPlace(place);
    });
  }

  /**
   * Fills a new generation from the newest snapshot that can be verified, makes it current, and opens it; an empty replica where
   * there is no snapshot. The rows of the old generation are deleted behind.
   *
   * Throws EngineError META0011 as `open` does, and what the source throws; rejects with the signal's reason. After each the old
   * replica is as it was.
   */
  restore(partition: PartitionId, signal: AbortSignal): Promise<OpenReplica> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    return this.#inTurn(partition, async () => {
      const old = this.#generations.current(partition);
      const place = await this.#fill(partition, either);
      await this.#opened.get(partition)?.retire();
      await this.#generations.makeCurrent(place);
      if (old !== undefined) this.#sweeper.add(old);
      const replica = await this.#openPlace(place);
      this.#onEvent({ kind: 'restored', place, position: replica.position });
      return replica;
    });
  }

  /**
   * The rows of the replica that is open, as of one moment after the call, keys relative to the partition. Undefined when none is
   * open, or it is being opened anew. Leave the iteration within minutes. Rejects with EngineError `storage` when what was applied
   * cannot be written.
   */
  async rows(partition: PartitionId): Promise<AsyncIterable<readonly KvEntry[]> | undefined> {
    const replica = this.#opened.get(partition);
    if (replica === undefined) return undefined;
    await replica.written();
    if (replica.isRetired) return undefined;
    const gte = partitionPrefix(replica.place);
    return relative(this.#store.pages({ gte, lt: prefixEnd(gte) }));
  }

  /** The replica that is open, if one is. */
  opened(partition: PartitionId): OpenReplica | undefined {
    return this.#opened.get(partition);
  }

  /** Resolves when no rows are left that do not count. */
  swept(): Promise<void> {
    return this.#sweeper.idle();
  }

  /** Breaks restores off and takes no records any more. Does not close the store. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new EngineError('cancelled', 'the replicas are closed'));
    await Promise.allSettled(this.#tails.values());
    await Promise.all([...this.#opened.values()].map((replica) => replica.retire()));
    await this.#sweeper.stop();
  }

  async #openPlace(place: PartitionPlace): Promise<OpenReplica> {
    const [store, scheduler] = [this.#store, this.#scheduler];
    if (this.#writes.hasFailed) this.#writes = new WriteBehind({ store, scheduler });
    const writes = this.#writes;
    const replica = await Replica.open({ ...this.#options, place }, { store, writes });
    const opened = new OpenReplica(place, writes, replica);
    this.#opened.set(place.partition, opened);
    return opened;
  }

  async #begin(partition: PartitionId): Promise<PartitionPlace> {
    const place = this.#generations.fresh(partition);
    await this.#generations.makeCurrent(place);
    return place;
  }

  /** A place with all rows of a snapshot, on the disk; an empty one where there is none. What was tried in vain is swept. */
  async #fill(partition: PartitionId, signal: AbortSignal): Promise<PartitionPlace> {
    const tried: PartitionPlace[] = [];
    const begin = (): RestoreTarget => {
      const place = this.#generations.fresh(partition);
      tried.push(place);
      return {
        write: (rows) => this.#write(place, rows, signal),
        problem: (position) => this.#problem(place, position),
      };
    };
    try {
      const position = await this.#source?.restore(partition, begin, signal);
      signal.throwIfAborted();
      const filled = position === undefined ? undefined : tried.pop();
      return filled ?? this.#generations.fresh(partition);
    } finally {
      for (const place of tried) this.#sweeper.add(place);
    }
  }

  async #write(
    place: PartitionPlace,
    rows: readonly KvEntry[],
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const prefix = partitionPrefix(place);
    const batch = this.#store.batch();
    for (const { key, value } of rows) batch.put(prefixed(prefix, key), value);
    // Each, because a sync only saves what stands in the newest write-ahead file.
    await batch.write({ sync: true });
  }

  async #problem(place: PartitionPlace, wanted: LogPosition): Promise<string | undefined> {
    try {
      const { position } = await new ChainRows({ place, keptBytes: 0 }).load(this.#store);
      const fits = position.sequence === wanted.sequence && position.chain === wanted.chain;
      if (fits) return undefined;
      return `the rows stand at ${String(position.sequence)}, not at ${String(wanted.sequence)}`;
    } catch (error) {
      if (isEngineError(error) && error.code === 'storage') return error.message;
      throw error;
    }
  }

  #inTurn<T>(partition: PartitionId, body: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(partition) ?? Promise.resolve();
    const done = before.then(body);
    this.#tails.set(
      partition,
      done.catch(() => undefined),
    );
    return done;
  }
}

function prefixed(prefix: Uint8Array, key: Uint8Array): Uint8Array {
  const full = new Uint8Array(prefix.length + key.length);
  full.set(prefix);
  full.set(key, prefix.length);
  return full;
}

async function* relative(
  pages: AsyncIterable<readonly KvEntry[]>,
): AsyncGenerator<readonly KvEntry[]> {
  for await (const page of pages) {
    yield page.map(({ key, value }) => ({ key: key.subarray(PARTITION_PREFIX_BYTES), value }));
  }
}
