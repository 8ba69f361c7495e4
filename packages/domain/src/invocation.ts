/** The invocation: its lifecycle, who asked for it, who waits for it. One row per invocation id. */

import type { DeploymentId, InvocationId } from './ids/index.js';
import type { AwaitTree, NotificationType } from './notification.js';
import type { Failure } from './result.js';
import type { InvocationTarget } from './target.js';

/** Stored lifecycle states. `invoked` covers running, backing off and waiting for a slot. */
export type InvocationStatus =
  'scheduled' | 'inboxed' | 'invoked' | 'suspended' | 'paused' | 'completed';

/** Who asked for the invocation. */
export type Source =
  | { readonly kind: 'ingress'; readonly requestId: string }
  | {
      readonly kind: 'service';
      readonly callerId: InvocationId;
      readonly callerTarget: InvocationTarget;
    }
  | { readonly kind: 'subscription'; readonly subscriptionId: string }
  | { readonly kind: 'restart-as-new'; readonly originalId: InvocationId };

/** Completions of a caller that an answer can fill. */
export type AnsweredCompletion = Extract<
  NotificationType,
  'call' | 'attach-invocation' | 'get-invocation-output' | 'get-promise'
>;

/** Completion slot of another invocation that waits for an answer. */
export interface CompletionSlot {
  readonly callerId: InvocationId;
  /** Incarnation of the caller; answers to another incarnation of the same id are dropped. */
  readonly callerIncarnation: number;
  readonly completionId: number;
  readonly type: AnsweredCompletion;
}

/** Who gets the result of an invocation when it ends. */
export type ResponseSink =
  | { readonly kind: 'request'; readonly requestId: string }
  | { readonly kind: 'completion'; readonly slot: CompletionSlot };

/** Deployment and protocol version that an invocation stays on once an attempt has stored something. */
export interface DeploymentPin {
  readonly deploymentId: DeploymentId;
  readonly protocolVersion: number;
}

/** Why an attempt failed, as people read it in introspection. */
export interface AttemptFailure {
  /** HTTP-style or SDK code (500, 570, …). */
  readonly code: number;
  /** Documented code such as RT0007. */
  readonly docCode: string | undefined;
  readonly message: string;
  readonly stacktrace: string | undefined;
  readonly relatedCommandIndex: number | undefined;
  readonly relatedCommandName: string | undefined;
  /** Message type name of the related command, e.g. `Run`. */
  readonly relatedCommandType: string | undefined;
}

/** Where the retries of a failing invocation stand. Absent when the last attempt made progress or none failed. */
export interface RetryState {
  /** Failed attempts that count against the policy since the last stored command. */
  readonly failures: number;
  /** Failed attempts since the last stored command with a delay set by the deployment: they use up no attempt of the policy. */
  readonly setDelays: number;
  /** Failed attempts since the last stored command that reached the handler, whoever set the delay. */
  readonly failuresSinceLastCommand: number;
  /** When the next attempt starts, ms since the epoch; undefined once it has started. */
  readonly nextAttemptAt: number | undefined;
  readonly failure: AttemptFailure;
}

/** What a restarted invocation took over from the one that it repeats, beyond the input. */
export interface Inheritance {
  /** The first so many entries of the journal: what they started belongs to the original. */
  readonly entries: number;
  /** Whose id seeds the randomness: the entries may contain what was drawn from it. */
  readonly seedId: InvocationId;
}

/** Result of a completed invocation: where the output stands in its journal, or the failure that the server made. */
export type CompletedResult =
  | { readonly kind: 'output'; readonly index: number; readonly succeeded: boolean }
  | { readonly kind: 'failure'; readonly failure: Failure };

/**
 * The row of an invocation. It changes often, so it holds no payload.
 *
 * Invariants: `journalLength` ≥ 1 from the first write on; `commandCount` ≤ `journalLength`; `awaitingOn` is set exactly when
 * suspended; `result` and `completedAt` exactly when completed; timestamps never go backwards.
 */
export interface Invocation {
  readonly status: InvocationStatus;
  /** Tells this use of the id from earlier and later ones: ids of workflows and idempotent calls return after a purge. */
  readonly incarnation: number;
  readonly target: InvocationTarget;
  readonly source: Source;
  readonly sinks: readonly ResponseSink[];
  readonly idempotencyKey: string | undefined;
  /** Planned start of a delayed invocation, ms since the epoch; kept after the start. */
  readonly executionTime: number | undefined;
  readonly completionRetentionMs: number;
  readonly journalRetentionMs: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly scheduledAt: number | undefined;
  readonly inboxedAt: number | undefined;
  /** When it was first invoked. */
  readonly runningAt: number | undefined;
  readonly completedAt: number | undefined;
  /** Place in the inbox of its object while inboxed. */
  readonly inboxSequence: number | undefined;
  readonly journalLength: number;
  readonly commandCount: number;
  readonly pin: DeploymentPin | undefined;
  /** Number of attempts started; effects of any other attempt than the last are refused. */
  readonly attempt: number;
  readonly lastAttemptAt: number | undefined;
  readonly retry: RetryState | undefined;
  readonly awaitingOn: AwaitTree | undefined;
  /** Journal entries that the handler knew when it fell asleep; set exactly when suspended. */
  readonly awaitKnownEntries: number | undefined;
  readonly result: CompletedResult | undefined;
  /** When somebody purged it; from then on it is there for nobody but the request that made it. */
  readonly purgedAt: number | undefined;
  /** Entries of a purged journal may still be stored at indexes below this; they are no part of it any more. */
  readonly purgeLength: number | undefined;
  readonly inherited: Inheritance | undefined;
}

/** True while an invocation may still append to its journal. */
export function isInFlight(status: InvocationStatus): boolean {
  return status === 'invoked' || status === 'suspended' || status === 'paused';
}

/** True when a completed result is still offered to callers at `now` (ms since the epoch). */
export function isRetained(invocation: Invocation, now: number): boolean {
  return (
    invocation.completedAt !== undefined &&
    invocation.purgedAt === undefined &&
    now < invocation.completedAt + invocation.completionRetentionMs
  );
}
