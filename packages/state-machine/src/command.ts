/**
 * The input alphabet of a partition. Imperative names ask for something, past names report what happened. Every command
 * carries the time at which it is decided; ids, chance and schema look-ups arrive inside it (SPEC §1).
 */

import type {
  AttemptFailure,
  AwaitTree,
  CommandType,
  DeploymentId,
  DeploymentPin,
  InvocationId,
  InvocationRequest,
  NotificationId,
  NotificationResult,
  PartitionId,
  PartitionMessage,
  Result,
  RetryPolicy,
  StateEntry,
  TimerKey,
} from '@engine/domain';

/** Creates an invocation, or attaches to the one that has the id. */
export interface InvokeHandler {
  readonly kind: 'InvokeHandler';
  readonly at: number;
  readonly request: InvocationRequest;
  /** Set when an ingress wants to know that the invocation is durable. */
  readonly submitRequestId: string | undefined;
}

/** Asks for the result of an invocation on behalf of an ingress request. */
export interface AttachRequest {
  readonly kind: 'AttachRequest';
  readonly at: number;
  readonly requestId: string;
  readonly invocationId: InvocationId;
  readonly blocking: boolean;
}

/** Delivers a signal on behalf of an ingress request. */
export interface SendSignal {
  readonly kind: 'SendSignal';
  readonly at: number;
  readonly requestId: string;
  readonly invocationId: InvocationId;
  readonly id: NotificationId;
  readonly result: NotificationResult;
}

/** Fields of every operation that somebody asks of one invocation. */
interface Operation {
  readonly at: number;
  readonly requestId: string;
  readonly invocationId: InvocationId;
}

export interface CancelInvocation extends Operation {
  readonly kind: 'CancelInvocation';
}

export interface KillInvocation extends Operation {
  readonly kind: 'KillInvocation';
}

/** Stops attempts until somebody resumes the invocation. */
export interface PauseInvocation extends Operation {
  readonly kind: 'PauseInvocation';
}

/** Starts an attempt now, of what is paused, suspended or backing off. */
export interface ResumeInvocation extends Operation {
  readonly kind: 'ResumeInvocation';
  readonly deployment: ResolvedDeployment;
}

/** Makes a new invocation out of a completed one, with the first entries of its journal. */
export interface RestartAsNew extends Operation {
  readonly kind: 'RestartAsNew';
  readonly newInvocationId: InvocationId;
  /** Index of the last journal entry that is taken over; 0 = the input alone. */
  readonly copyUpTo: number;
  readonly deployment: ResolvedDeployment;
}

/** Forgets a completed invocation before its retention is over. */
export interface PurgeInvocation extends Operation {
  readonly kind: 'PurgeInvocation';
}

/** Forgets the journal of a completed invocation before its retention is over; the result stays. */
export interface PurgeJournal extends Operation {
  readonly kind: 'PurgeJournal';
}

/** Replaces the whole state of an object or a workflow, in its turn among the exclusive invocations of the key. */
export interface ReplaceState {
  readonly kind: 'ReplaceState';
  readonly at: number;
  readonly requestId: string;
  readonly service: string;
  readonly key: string;
  /** Version of the state that is meant; on another one nothing changes. Undefined = any. */
  readonly expectedVersion: string | undefined;
  readonly entries: readonly StateEntry[];
}

/** The choice of a deployment, looked up in the schema. */
export type ResolvedDeployment =
  | { readonly kind: 'keep' }
  /** There is no such deployment, or none serves the service. */
  | { readonly kind: 'unknown'; readonly isExplicit: boolean }
  | {
      readonly kind: 'deployment';
      /** False when the newest was asked for: then an invocation that never ran just stays free to choose. */
      readonly isExplicit: boolean;
      readonly deploymentId: DeploymentId;
      /** Service protocol versions that it speaks. */
      readonly minProtocolVersion: number;
      readonly maxProtocolVersion: number;
    };

/** A message of another partition arrived. */
export interface MessageArrived {
  readonly kind: 'MessageArrived';
  readonly at: number;
  readonly sender: PartitionId;
  readonly sequence: number;
  readonly message: PartitionMessage;
}

/** The receiver made all messages up to and including `upTo` durable. */
export interface MessagesAcknowledged {
  readonly kind: 'MessagesAcknowledged';
  readonly at: number;
  readonly destination: PartitionId;
  readonly upTo: number;
}

export interface TimerFired {
  readonly kind: 'TimerFired';
  readonly at: number;
  readonly key: TimerKey;
  readonly incarnation: number;
}

/** Fields that every report of an attempt carries. */
interface AttemptReport {
  readonly at: number;
  readonly invocationId: InvocationId;
  /** Number of the attempt; reports of any but the running one are dropped. */
  readonly attempt: number;
}

/** The handler sent a command. */
export interface CommandReceived extends AttemptReport {
  readonly kind: 'CommandReceived';
  readonly pin: DeploymentPin;
  readonly entry: CommandEntry;
  /** The deployment wants to know when the command is stored. */
  readonly ackRequested: boolean;
}

/** The handler proposed the outcome of a `run`. */
export interface RunCompletionProposed extends AttemptReport {
  readonly kind: 'RunCompletionProposed';
  readonly pin: DeploymentPin;
  readonly completionId: number;
  readonly result: Result;
}

/** The attempt ended because it waits. */
export interface AttemptSuspended extends AttemptReport {
  readonly kind: 'AttemptSuspended';
  readonly awaitingOn: AwaitTree;
  /** Journal entries that the attempt had been given: it knows nothing of later ones. */
  readonly knownEntries: number;
}

/** The handler finished; its output is in the journal. */
export interface AttemptEnded extends AttemptReport {
  readonly kind: 'AttemptEnded';
}

/** The attempt failed. */
export interface AttemptFailed extends AttemptReport {
  readonly kind: 'AttemptFailed';
  readonly failure: AttemptFailure;
  /** `retry` follows the policy; `pause` and `fail` were demanded by the deployment. */
  readonly behavior: 'retry' | 'pause' | 'fail';
  /** Delay set by the deployment, ms; it does not use up an attempt of the policy. */
  readonly retryDelayMs: number | undefined;
  /** False for failures before user code was reached: they do not count as tries of a step. */
  readonly reachedHandler: boolean;
  readonly policy: RetryPolicy;
  /** A number in [0, 1) for the jitter of the delay. */
  readonly chance: number;
}

/** What somebody asks of one invocation or one state, and is told the outcome of. */
export type OperationCommand =
  | CancelInvocation
  | KillInvocation
  | PauseInvocation
  | ResumeInvocation
  | RestartAsNew
  | PurgeInvocation
  | PurgeJournal
  | ReplaceState;

export type Command =
  | InvokeHandler
  | AttachRequest
  | SendSignal
  | OperationCommand
  | MessageArrived
  | MessagesAcknowledged
  | TimerFired
  | CommandReceived
  | RunCompletionProposed
  | AttemptSuspended
  | AttemptEnded
  | AttemptFailed;

/** What every journal command has besides its effect. */
interface StoredCommand {
  readonly type: CommandType;
  readonly name: string;
  readonly raw: Uint8Array;
}

/** Callee of a call with everything resolved by the leader of the caller. */
export type CalleeRequest = Omit<InvocationRequest, 'source' | 'sink'>;

/**
 * A command of a handler with all that its effect needs. Output is not stored as raw bytes: its result is what callers get.
 * Preconditions (kind of target, known callee, legal ids) were checked by the attempt; the machine tolerates violations.
 */
export type CommandEntry =
  | { readonly type: 'output'; readonly name: string; readonly result: Result }
  | (StoredCommand & { readonly type: 'run'; readonly completionId: number })
  | (StoredCommand & { readonly type: 'get-eager-state' | 'get-eager-state-keys' })
  | (StoredCommand & {
      readonly type: 'get-lazy-state';
      readonly key: string;
      readonly completionId: number;
    })
  | (StoredCommand & { readonly type: 'get-lazy-state-keys'; readonly completionId: number })
  | (StoredCommand & {
      readonly type: 'set-state';
      readonly key: string;
      readonly value: Uint8Array;
    })
  | (StoredCommand & { readonly type: 'clear-state'; readonly key: string })
  | (StoredCommand & { readonly type: 'clear-all-state' })
  | (StoredCommand & {
      readonly type: 'get-promise';
      readonly key: string;
      readonly completionId: number;
    })
  | (StoredCommand & {
      readonly type: 'peek-promise';
      readonly key: string;
      readonly completionId: number;
    })
  | (StoredCommand & {
      readonly type: 'complete-promise';
      readonly key: string;
      readonly completion: Result;
      readonly completionId: number;
    })
  | (StoredCommand & {
      readonly type: 'sleep';
      readonly wakeUpTime: number;
      readonly completionId: number;
    })
  | (StoredCommand & {
      readonly type: 'call';
      readonly callee: CalleeRequest;
      readonly invocationIdCompletionId: number;
      readonly resultCompletionId: number;
    })
  | (StoredCommand & {
      readonly type: 'one-way-call';
      readonly callee: CalleeRequest;
      readonly invocationIdCompletionId: number;
    })
  | (StoredCommand & {
      readonly type: 'send-signal' | 'complete-awakeable';
      readonly target: InvocationId;
      readonly signal: NotificationId;
      readonly result: NotificationResult;
    })
  | (StoredCommand & {
      readonly type: 'attach-invocation' | 'get-invocation-output';
      readonly target: InvocationId;
      readonly completionId: number;
    });
