/** Everything a worker leans on. The composition root gives the real ones, tests and the simulation their twins. */

import type { Hashes, PartitionId, SchemaLookup } from '@engine/domain';
import type { PartitionLog } from '@engine/log';
import type { Clock, Random, Scheduler } from '@engine/runtime';
import type { KvStore, PartitionPlace } from '@engine/storage';
import type { PartitionPeer } from '@engine/wire';

import type { DeploymentTransport } from './invoker/deployment-transport.js';

/** Where a partition is kept, opened for this leader. */
export interface PartitionHome {
  readonly place: PartitionPlace;
  readonly store: KvStore;
  readonly log: PartitionLog;
}

export interface WorkerContext {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly hashes: Hashes;
  /** The schema of this moment. */
  readonly schema: () => SchemaLookup;
  readonly transport: DeploymentTransport;
  /** Opens a partition of this worker; called once for each. */
  readonly openPartition: (id: PartitionId) => Promise<PartitionHome>;
  /** The way to other partitions. Undefined = all of them live in this worker. */
  readonly peer?: PartitionPeer;
  /** A partition cannot go on: nothing it decided since its last record counts. The process should end, or reopen its store. */
  readonly onFatal: (error: unknown) => void;
}
