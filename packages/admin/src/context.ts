/** Everything that the routes lean on, made once by the service. */

import type { Hashes, Schema, SchemaLookup } from '@engine/domain';
import type { FunctionInvoker } from '@engine/lambda';
import type { MetadataStore } from '@engine/metadata';
import type { RequestSigner } from '@engine/request-identity';
import type { Clock, Random, Scheduler } from '@engine/runtime';
import type { QueryService } from '@engine/sql';
import type { InvocationScan, JournalScan, PartitionChannel } from '@engine/wire';
import type { BatchOperations } from './batch/batch-operations.js';
import type { ClusterOperations } from './cluster/cluster-status.js';
import type { AdminConfig } from './config-shape.js';
import type { Discover } from './discovery/discover.js';
import type { InvocationOperations } from './invocation-operations.js';
import type { Convert } from './serdes/convert.js';
import type { StateOperations } from './state-operations.js';

/** The schema document of the cluster, as the admin needs it. */
export interface SchemaDocument {
  /** The schema as this process knows it now. */
  readonly current: SchemaLookup;
  /**
   * Replaces the document by what `change` makes of it. `change` may run several times, on newer and newer documents; what it
   * throws is thrown here and nothing changes. Resolves when the result is durable and `current` answers from it.
   */
  update(change: (schema: Schema) => Schema): Promise<SchemaLookup>;
}

/** What the admin is given by whoever starts it. */
export interface AdminDependencies {
  readonly schemas: SchemaDocument;
  readonly channel: PartitionChannel;
  readonly invocations: InvocationScan;
  readonly journals: JournalScan;
  /** Where batch operations are kept. */
  readonly metadata: MetadataStore;
  readonly hashes: Hashes;
  readonly queries: QueryService;
  /** Undefined: this process is alone, whatever else is known of it. */
  readonly cluster?: ClusterOperations | undefined;
  readonly functions: FunctionInvoker;
  /** Undefined: requests to deployments are not signed. */
  readonly signer: RequestSigner | undefined;
  /** Whether the process can take work; `/health` says so. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

export interface AdminContext {
  readonly config: AdminConfig;
  readonly schemas: SchemaDocument;
  readonly invocations: InvocationScan;
  readonly queries: QueryService;
  readonly operations: InvocationOperations;
  readonly batches: BatchOperations;
  readonly states: StateOperations;
  readonly cluster: ClusterOperations;
  readonly discover: Discover;
  readonly convert: Convert;
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly newUlid: () => Uint8Array;
}
