import type {
  AwaitTree,
  DeploymentId,
  Failure,
  Invocation,
  InvocationId,
  PartitionId,
} from '@engine/domain';

/** What only the leader knows of an invocation, and only while it owns it: running or waiting for a retry. */
export interface LiveAttempt {
  /** True while a request to the deployment is open. */
  readonly isInFlight: boolean;
  /** Attempts started since the leader took the invocation over. */
  readonly retryCount: number;
  /** Ms since the epoch. */
  readonly lastStartAt: number | undefined;
  /** Ms since the epoch. */
  readonly nextRetryAt: number | undefined;
  readonly deploymentId: DeploymentId | undefined;
  /** What the deployment said of itself, e.g. `restate-sdk-typescript/1.17.2`. */
  readonly server: string | undefined;
  /** What the handler last said that it awaits; from protocol 7 on. */
  readonly awaitingOn: AwaitTree | undefined;
  /** When the deployment last sent anything to the attempt in flight, ms since the epoch. */
  readonly lastHeardAt: number | undefined;
}

/** What an invocation waits for, in words, for people. */
export interface Awaiting {
  readonly on: string;
  /** Ms since the epoch. */
  readonly since: number | undefined;
}

/** An invocation as stored, and as it runs. */
export interface InvocationSnapshot {
  readonly id: InvocationId;
  readonly invocation: Invocation;
  readonly live: LiveAttempt | undefined;
  /** Undefined when it is completed. */
  readonly awaiting: Awaiting | undefined;
  /** What its handler failed with; only of completed invocations. */
  readonly failure: Failure | undefined;
}

export interface ScanOptions {
  /** Only these, in this order; unknown ids are left out. Undefined = all. */
  readonly ids?: readonly InvocationId[] | undefined;
  /** At most so many. */
  readonly limit: number;
  /** Start behind this id, in the order of the store. Not together with `ids`. */
  readonly after?: InvocationId | undefined;
  /** Only what this partition holds; EngineError `unavailable` from a worker that does not lead it. Undefined = all. */
  readonly partition?: PartitionId | undefined;
}

/** Introspection of the invocations of all partitions. Reads committed rows; pages, so nothing scans a whole partition at once. */
export interface InvocationScan {
  scan(options: ScanOptions): AsyncIterable<InvocationSnapshot>;
}
