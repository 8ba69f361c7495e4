/** Where the replicas of a worker are kept, as their host sees them. */

import type { PartitionId } from '@engine/domain';
import type { ApplyRecord, LogPosition } from '@engine/log';
import type { KvReader, PartitionPlace } from '@engine/storage';

/** The store of one partition, opened. */
export interface PartitionReplica {
  readonly place: PartitionPlace;
  /** What was applied. */
  readonly store: KvReader;
  /** After the last record that was applied; LOG_START for an empty store. */
  readonly position: LogPosition;
  /**
   * Applies the record after the position: reads see it when this resolves. One at a time; after a rejection the replica must be
   * opened anew.
   */
  readonly apply: ApplyRecord;
  /** `listener` hears at once when what was applied cannot be written: the replica must be opened anew. */
  onFailed(listener: (error: unknown) => void): Disposable;
  /** Resolves when what was applied so far is written. Rejects when it cannot be. */
  written(): Promise<void>;
  /** Value of the chain at a sequence, as far back as the store knows. */
  chainAt(sequence: bigint): Promise<bigint | undefined>;
}

export interface ReplicaStores {
  /**
   * Opens the replica as it is on disk. A replica that was opened before counts no more.
   *
   * Throws EngineError `storage` when it lost writes from its middle: restore it. Throws EngineError META0011 when a newer server wrote it.
   */
  open(partition: PartitionId): Promise<PartitionReplica>;
  /**
   * Fills a new generation from the newest snapshot that can be verified, makes it current, and opens it; an empty replica where there
   * is no snapshot. The rows of the old generation are deleted behind. A restore that is broken off leaves the old replica as it was.
   */
  restore(partition: PartitionId, signal: AbortSignal): Promise<PartitionReplica>;
}
