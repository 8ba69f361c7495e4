/**
 * What ingress and admin ask of the leader of a partition, and what it answers (proto/engine/worker/v1). Every request has an
 * id of its own: a repeat with the same id gets the same answer and never runs twice.
 */

import type { DeploymentId, InvocationId } from './ids/index.js';
import type { NotificationId, NotificationResult } from './notification.js';
import type { InvocationRequest } from './message.js';
import type { StateEntry } from './object.js';
import type { Result } from './result.js';

export type PartitionRequest =
  | {
      readonly kind: 'invoke';
      readonly requestId: string;
      /** `source` and `sink` are made by the partition out of `requestId` and `awaits`. */
      readonly invocation: Omit<InvocationRequest, 'source' | 'sink'>;
      /** `submission`: answer when durable. `result`: answer when the invocation ends. */
      readonly awaits: 'submission' | 'result';
    }
  | {
      readonly kind: 'attach';
      readonly requestId: string;
      readonly invocationId: InvocationId;
      /** False: answer at once. */
      readonly blocking: boolean;
    }
  | {
      readonly kind: 'signal';
      readonly requestId: string;
      readonly invocationId: InvocationId;
      readonly id: NotificationId;
      readonly result: NotificationResult;
    }
  | {
      readonly kind: 'cancel' | 'kill' | 'pause' | 'purge' | 'purge-journal';
      readonly requestId: string;
      readonly invocationId: InvocationId;
    }
  | {
      readonly kind: 'resume';
      readonly requestId: string;
      readonly invocationId: InvocationId;
      readonly deployment: DeploymentChoice;
    }
  | {
      readonly kind: 'restart-as-new';
      readonly requestId: string;
      /** The completed invocation; it stays as it is. */
      readonly invocationId: InvocationId;
      /** Has the partition key of the old one. Chosen by who asks, so that a repeat finds what the first one made. */
      readonly newInvocationId: InvocationId;
      /** Index of the last journal entry that is taken over; 0 = the input alone. */
      readonly copyUpTo: number;
      readonly deployment: DeploymentChoice;
    }
  | {
      readonly kind: 'replace-state';
      readonly requestId: string;
      readonly service: string;
      readonly key: string;
      /** Version of the state that is meant to be replaced; on another one nothing changes. Undefined = any. */
      readonly expectedVersion: string | undefined;
      /** The whole new state; none clears it. */
      readonly entries: readonly StateEntry[];
    };

/** Where an invocation goes on. `keep`: where it is. `latest`: at the newest deployment of its service. */
export type DeploymentChoice =
  | { readonly kind: 'keep' }
  | { readonly kind: 'latest' }
  | { readonly kind: 'fixed'; readonly deploymentId: DeploymentId };

/** Outcome of an operation on an invocation or a state. Only the first three are successes. */
export type OperationOutcome =
  | 'done'
  /** Will take effect when the handler sees it, or when the object is free. */
  | 'appended'
  /** There was nothing to do. */
  | 'unchanged'
  | 'not-found'
  | 'already-completed'
  | 'not-completed'
  /** Scheduled or queued. */
  | 'not-started'
  /** Nothing runs that could be paused. */
  | 'not-running'
  | 'still-running'
  /** The journal is purged, so there is no input any more. */
  | 'journal-missing'
  /** Workflow runs cannot be restarted: there is one for each key. */
  | 'workflow-unsupported'
  /** A position outside of the journal, or commands before it still lack their completions. */
  | 'journal-position-invalid'
  | 'deployment-not-found'
  /** Running attempts stay where they are, and what never ran has no deployment to be changed. */
  | 'deployment-not-changeable'
  /** The deployment does not speak the protocol version with which the invocation began. */
  | 'deployment-incompatible'
  /** A limit of the object or of the journal is reached; see the limits of `domain`. */
  | 'limit-reached';

export type PartitionAnswer =
  | {
      readonly kind: 'submitted';
      /** False when the id existed and was created by another request. */
      readonly isNew: boolean;
      /** Planned start while the invocation is scheduled. */
      readonly executionTime: number | undefined;
    }
  | {
      readonly kind: 'result';
      readonly result: Result;
      /** When a stored result expires, ms since the epoch; undefined for callers that waited for the end. */
      readonly expiresAt: number | undefined;
      /** Target of the invocation: decides the content type of the answer. Undefined = as the request named it. */
      readonly target: { readonly service: string; readonly handler: string } | undefined;
    }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'not-ready' }
  | { readonly kind: 'operation'; readonly outcome: OperationOutcome }
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason };

/**
 * Why there is no answer, and what may be done about it. `overloaded`: nothing was decided, there is no room now.
 * `not-leader`: nothing was decided, another worker leads the partition. `stopping`: the leader goes away, and the request may
 * have taken effect. `disconnected`: no answer came over the way to the leader, and the request may have taken effect. After the
 * last three the same request, with the same id, may be sent again to whoever leads then.
 */
export type UnavailableReason = 'overloaded' | 'stopping' | 'not-leader' | 'disconnected';
