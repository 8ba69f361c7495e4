/** Everything a worker leans on. The composition root gives the real ones, tests and the simulation their twins. */

import type { Hashes, PartitionId, SchemaLookup } from '@engine/domain';
import type { PartitionLog } from '@engine/log';
import type { Clock, Random, Scheduler } from '@engine/runtime';
import type { KvReader, PartitionPlace } from '@engine/storage';
import type { PartitionPeer } from '@engine/wire';

import type { DeploymentTransport } from './invoker/deployment-transport.js';

/** Where a partition is kept, opened for this leader. */
export interface PartitionHome {
  readonly place: PartitionPlace;
  readonly store: KvReader;
  readonly log: PartitionLog;
  /**
   * True: another process may lead the same log before this one knows it, so what leaves this leader rides on an append that was begun
   * after its cause, an empty one when nothing was decided. Default: false.
   */
  readonly isShared?: boolean;
  /** Record times do not go below it, in ms since 1970. Default: 0. */
  readonly timeMin?: number;
  /** Asked before each attempt begins; false: it does not, and comes back with `resumeAttempts`. Default: always. */
  readonly mayBeginAttempts?: () => boolean;
  /** The partition cannot go on and has been stopped. Default: that of the worker. */
  readonly onFatal?: (error: unknown) => void;
}

export interface WorkerContext {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly hashes: Hashes;
  /** The schema of this moment. */
  readonly schema: () => SchemaLookup;
  readonly transport: DeploymentTransport;
  /** Opens a partition of this worker; called once for each. Undefined = partitions come and go (`Worker.lead`, `Worker.letGo`). */
  readonly openPartition?: (id: PartitionId) => Promise<PartitionHome>;
  /** The way to other partitions. Undefined = all of them are led in this worker. */
  readonly peer?: PartitionPeer;
  /** A partition cannot go on: nothing it decided since its last record counts. The process should end, or reopen its store. */
  readonly onFatal: (error: unknown) => void;
}
