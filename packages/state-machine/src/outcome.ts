/** What a decision brings about: mutations, then actions. Actions may leave only after the mutations are durable (SPEC §2). */

import type {
  InvocationId,
  JournalEntry,
  PartitionAnswer,
  PartitionId,
  PartitionMessage,
  TimerKey,
} from '@engine/domain';
import type { Mutation } from '@engine/storage';

/** Starts an attempt of an invocation with the journal as stored. */
export interface StartAttempt {
  readonly kind: 'StartAttempt';
  readonly invocationId: InvocationId;
  readonly attempt: number;
}

/** Drops this attempt and any earlier one, if it still runs: nothing it still sends counts. */
export interface AbortAttempt {
  readonly kind: 'AbortAttempt';
  readonly invocationId: InvocationId;
  readonly attempt: number;
}

/** Hands a notification that was just stored to the running attempt. */
export interface PushNotification {
  readonly kind: 'PushNotification';
  readonly invocationId: InvocationId;
  readonly attempt: number;
  readonly index: number;
  readonly entry: Extract<JournalEntry, { kind: 'notification' }>;
}

/** Tells the running attempt that its commands are stored; the journal has `journalLength` entries now. */
export interface ConfirmCommand {
  readonly kind: 'ConfirmCommand';
  readonly invocationId: InvocationId;
  readonly attempt: number;
  /** Index among the commands, input = 0. */
  readonly commandIndex: number;
  readonly ackRequested: boolean;
}

export interface ScheduleTimer {
  readonly kind: 'ScheduleTimer';
  readonly key: TimerKey;
  readonly incarnation: number;
}

export interface CancelTimer {
  readonly kind: 'CancelTimer';
  readonly key: TimerKey;
}

export interface SendMessage {
  readonly kind: 'SendMessage';
  readonly destination: PartitionId;
  readonly sequence: number;
  readonly message: PartitionMessage;
}

/** Tells a sender up to where its messages are durable here; also the answer to a repeated or too early one. */
export interface AcknowledgeMessages {
  readonly kind: 'AcknowledgeMessages';
  readonly sender: PartitionId;
  readonly upTo: number;
}

/** Answers a request of an ingress or admin. */
export interface AnswerRequest {
  readonly kind: 'AnswerRequest';
  readonly requestId: string;
  readonly answer: PartitionAnswer;
}

export type Action =
  | StartAttempt
  | AbortAttempt
  | PushNotification
  | ConfirmCommand
  | ScheduleTimer
  | CancelTimer
  | SendMessage
  | AcknowledgeMessages
  | AnswerRequest;

export interface Outcome {
  readonly mutations: readonly Mutation[];
  readonly actions: readonly Action[];
}
