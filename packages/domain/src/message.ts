/** Messages between partitions. What a partition sends to itself is decided at once and never becomes one of these rows. */

import type { InvocationId } from './ids/index.js';
import type { CompletionSlot, ResponseSink, Source } from './invocation.js';
import type { Header } from './journal.js';
import type { NotificationId, NotificationResult } from './notification.js';
import type { InvocationTarget } from './target.js';

/** Everything needed to create an invocation. Retention is resolved by whoever asks, from the schema of that moment. */
export interface InvocationRequest {
  readonly id: InvocationId;
  readonly target: InvocationTarget;
  readonly source: Source;
  readonly headers: readonly Header[];
  readonly payload: Uint8Array;
  readonly idempotencyKey: string | undefined;
  /** Start not before this time, ms since the epoch; undefined = now. */
  readonly executionTime: number | undefined;
  readonly completionRetentionMs: number;
  readonly journalRetentionMs: number;
  /** Who gets the result; undefined for one-way requests. */
  readonly sink: ResponseSink | undefined;
}

export type PartitionMessage =
  | { readonly kind: 'invoke'; readonly request: InvocationRequest }
  | {
      readonly kind: 'respond';
      readonly slot: CompletionSlot;
      readonly result: NotificationResult;
    }
  | {
      readonly kind: 'signal';
      readonly invocationId: InvocationId;
      readonly id: NotificationId;
      readonly result: NotificationResult;
    }
  | {
      readonly kind: 'attach';
      readonly invocationId: InvocationId;
      /** False: answer at once, also when the invocation has not ended. */
      readonly blocking: boolean;
      readonly slot: CompletionSlot;
    }
  | { readonly kind: 'kill'; readonly invocationId: InvocationId };

/** Id of the invocation that a message is for; it decides the partition. */
export function recipientOf(message: PartitionMessage): InvocationId {
  switch (message.kind) {
    case 'invoke':
      return message.request.id;
    case 'respond':
      return message.slot.callerId;
    case 'signal':
    case 'attach':
    case 'kill':
      return message.invocationId;
  }
}

/** Dense numbering of the messages to one destination: rows stand at `first` ≤ sequence < `next`. */
export interface OutboxCursor {
  readonly first: number;
  readonly next: number;
}
