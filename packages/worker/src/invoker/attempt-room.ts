/** What every attempt of a partition leans on: one object, made once per partition. */

import type { Hashes, RetryPolicy, SchemaLookup } from '@engine/domain';
import type { Clock, Random } from '@engine/runtime';
import type { PartitionScan, StateReader } from '@engine/storage';

import type { PartitionProcessor } from '../partition/processor.js';
import type { CalleeIds } from './callee-ids.js';
import type { Deadlines } from './deadlines.js';
import type { DeploymentTransport } from './deployment-transport.js';
import type { PayloadMemory } from './payload-memory.js';
import type { Silences } from './silences.js';

export interface AttemptRoom {
  readonly state: StateReader;
  readonly scan: Pick<PartitionScan, 'active' | 'journal'>;
  readonly processor: PartitionProcessor;
  readonly schema: () => SchemaLookup;
  readonly hashes: Hashes;
  readonly calleeIds: CalleeIds;
  readonly transport: DeploymentTransport;
  readonly deadlines: Deadlines;
  readonly silences: Silences;
  readonly memory: PayloadMemory;
  readonly clock: Clock;
  readonly random: Random;
  readonly options: InvokerOptions;
  /** Asked last before the first byte to a deployment. */
  readonly mayBegin: () => boolean;
}

export interface InvokerOptions {
  /** Attempts that hold a slot at the same time in one partition. */
  readonly concurrentInvocationsMax: number;
  /** Attempts that wait for a slot in memory; beyond it only the store knows of them. About 150 bytes each. */
  readonly waitingAttemptsMax: number;
  readonly messageSizeBytesMax: number;
  /** Journal and state that one attempt may be given; an invocation with more is not tried again (RT0001). */
  readonly perInvocationBytesMax: number;
  /** Largest sum of keys and values, in bytes, that an attempt gets without asking; 0 = none. */
  readonly eagerStateBytesMax: number;
  readonly clusterName: string;
  /** For handlers that the schema does not know. */
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
  readonly retryPolicy: RetryPolicy;
}
