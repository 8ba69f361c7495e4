/** Replicas in memory: the disk of a node that outlives its process. */

import { EngineError, type PartitionId } from '@engine/domain';
import { LOG_START, type LogPosition, type LogRecord } from '@engine/log';
import { MemoryKvStore, partitionPrefix, type PartitionPlace } from '@engine/storage';
import { visitMutations, type EncodedMutations } from '@engine/wire';

import type { PartitionReplica, ReplicaStores } from '../hosting/replica-stores.js';

/** Applies the mutations of a record to the rows of a partition. */
export async function writeTo(
  store: MemoryKvStore,
  place: PartitionPlace,
  mutations: EncodedMutations,
): Promise<void> {
  const prefix = partitionPrefix(place);
  const batch = store.batch();
  visitMutations(mutations, (key, value) => {
    const full = new Uint8Array(prefix.length + key.length);
    full.set(prefix);
    full.set(key, prefix.length);
    if (value === undefined) batch.del(full);
    else batch.put(full, value);
  });
  await batch.write({ sync: true });
}

/** What a replica has, and had applied when; also what a snapshot holds. */
export interface StoredReplica {
  store: MemoryKvStore;
  position: LogPosition;
  readonly chains: Map<bigint, bigint>;
  /** Of replicas that were opened. */
  readonly listeners: Set<(error: unknown) => void>;
}

export class MemoryReplicas implements ReplicaStores {
  readonly #stored = new Map<PartitionId, StoredReplica>();
  readonly #snapshots: ReadonlyMap<PartitionId, StoredReplica>;
  /** Openings so far. */
  openings = 0;
  restores = 0;
  /** Thrown by the next openings, one each. */
  readonly openingFailures: Error[] = [];
  /** Thrown by the next records that are applied, one each. */
  readonly applyFailures: Error[] = [];
  /** While it is set nothing that is applied can be written; `failWrites` says what of it is lost. */
  writeFailure: Error | undefined;

  /** `snapshots`: what a restore finds. */
  constructor(snapshots: ReadonlyMap<PartitionId, StoredReplica>) {
    this.#snapshots = snapshots;
  }

  stored(partition: PartitionId): StoredReplica {
    let stored = this.#stored.get(partition);
    if (stored === undefined) {
      stored = emptyReplica();
      this.#stored.set(partition, stored);
    }
    return stored;
  }

  /**
   * A write fails: replicas that are open hear of it and go on seeing what they applied, while the next opening finds `kept`, a copy that
   * was made before.
   */
  failWrites(partition: PartitionId, kept: StoredReplica): void {
    const { listeners } = this.stored(partition);
    this.#stored.set(partition, kept);
    for (const listener of listeners) listener(this.writeFailure ?? new Error('disk gone'));
  }

  open(partition: PartitionId): Promise<PartitionReplica> {
    this.openings += 1;
    const failure = this.openingFailures.shift();
    if (failure !== undefined) return Promise.reject(failure);
    return Promise.resolve(this.#replica(partition));
  }

  async restore(partition: PartitionId, signal: AbortSignal): Promise<PartitionReplica> {
    this.restores += 1;
    const snapshot = this.#snapshots.get(partition);
    signal.throwIfAborted();
    this.#stored.delete(partition);
    if (snapshot !== undefined) this.#stored.set(partition, await copyOf(snapshot));
    return this.#replica(partition);
  }

  #replica(partition: PartitionId): PartitionReplica {
    const stored = this.stored(partition);
    const place: PartitionPlace = { partition, generation: 0 };
    const apply = async (record: LogRecord): Promise<void> => {
      const failure = this.applyFailures.shift();
      if (failure !== undefined) throw failure;
      const { epoch, sequence, chain } = record;
      if (sequence !== stored.position.sequence + 1n) {
        throw new EngineError('internal', 'records are applied without a gap');
      }
      await writeTo(stored.store, place, record.mutations);
      stored.position = { epoch, sequence, chain };
      stored.chains.set(sequence, chain);
    };
    return {
      place,
      store: stored.store,
      get position() {
        return stored.position;
      },
      apply,
      onFailed: (listener) => {
        stored.listeners.add(listener);
        return { [Symbol.dispose]: () => void stored.listeners.delete(listener) };
      },
      written: () =>
        this.writeFailure === undefined ? Promise.resolve() : Promise.reject(this.writeFailure),
      chainAt: (sequence) => Promise.resolve(stored.chains.get(sequence)),
    };
  }
}

function emptyReplica(): StoredReplica {
  const store = new MemoryKvStore();
  return { store, position: LOG_START, chains: new Map(), listeners: new Set() };
}

/** A replica as it is now. */
export async function copyOf({ store, position, chains }: StoredReplica): Promise<StoredReplica> {
  const copy = new MemoryKvStore();
  const batch = copy.batch();
  for (const { key, value } of await store.scan({
    gte: new Uint8Array(),
    lt: Uint8Array.of(255),
    limit: Infinity,
  })) {
    batch.put(key, value);
  }
  await batch.write({ sync: true });
  return { store: copy, position, chains: new Map(chains), listeners: new Set() };
}
