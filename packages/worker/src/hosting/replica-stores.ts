/** Where the replicas of a worker are kept, as their host sees them. */

import type { PartitionId } from '@engine/domain';
import type { ApplyRecord, LogPosition } from '@engine/log';
import type { KvStore, PartitionPlace } from '@engine/storage';

/** The store of one partition, opened. */
export interface PartitionReplica {
  readonly place: PartitionPlace;
  readonly store: KvStore;
  /** After the last record that was applied; LOG_START for an empty store. */
  readonly position: LogPosition;
  /** Applies the record after the position; one at a time. After a rejection the replica must be opened anew. */
  readonly apply: ApplyRecord;
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
