/**
 * What ingress and admin ask of the leader of a partition, and what it answers (proto/engine/worker/v1). Every request has an
 * id of its own: a repeat with the same id gets the same answer and never runs twice.
 */

import type { InvocationId } from './ids/index.js';
import type { NotificationId, NotificationResult } from './notification.js';
import type { InvocationRequest } from './message.js';
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
  | { readonly kind: 'cancel'; readonly requestId: string; readonly invocationId: InvocationId }
  | { readonly kind: 'kill'; readonly requestId: string; readonly invocationId: InvocationId };

/** Outcome of an operation on an invocation. `appended`: will take effect when the handler sees it. */
export type OperationOutcome =
  'done' | 'appended' | 'not-found' | 'already-completed' | 'not-completed';

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
  /** Not decided and without effect: try again later. */
  | { readonly kind: 'unavailable'; readonly reason: 'overloaded' | 'stopping' };
