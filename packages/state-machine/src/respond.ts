/** Answers to those who wait for the result of an invocation. */

import type {
  Invocation,
  InvocationId,
  InvocationTarget,
  NotificationResult,
  ResponseSink,
  Result,
} from '@engine/domain';
import { failureResult } from '@engine/domain';

import type { Draft } from './draft.js';

/** Sends a result to one sink: callers by message, ingress requests by action. */
export function respond(
  draft: Draft,
  sink: ResponseSink,
  answer: {
    readonly result: Result;
    readonly target: InvocationTarget;
    /** When a stored result expires; undefined for an invocation that ends now. */
    readonly expiresAt?: number;
  },
): void {
  switch (sink.kind) {
    case 'request':
      draft.act({
        kind: 'AnswerRequest',
        requestId: sink.requestId,
        answer: {
          kind: 'result',
          result: answer.result,
          expiresAt: answer.expiresAt,
          target: { service: answer.target.service, handler: answer.target.handler },
        },
      });
      return;
    case 'completion':
      draft.send({ kind: 'respond', slot: sink.slot, result: toNotification(answer.result) });
      return;
  }
}

export function toNotification(result: Result): NotificationResult {
  return result.kind === 'success'
    ? { kind: 'value', value: result.value }
    : { kind: 'failure', failure: result.failure };
}

/** Result of a completed invocation, read from where it is kept. */
export function storedResult(draft: Draft, id: InvocationId, row: Invocation): Result {
  if (row.result?.kind === 'failure') return { kind: 'failure', failure: row.result.failure };
  const entry = row.result === undefined ? undefined : draft.journalEntry(id, row.result.index);
  return entry?.kind === 'output'
    ? entry.result
    : failureResult(500, 'the result of the invocation is not stored');
}

export function isSameSink(a: ResponseSink, b: ResponseSink): boolean {
  if (a.kind === 'request') return b.kind === 'request' && a.requestId === b.requestId;
  return (
    b.kind === 'completion' &&
    a.slot.callerId === b.slot.callerId &&
    a.slot.callerIncarnation === b.slot.callerIncarnation &&
    a.slot.completionId === b.slot.completionId
  );
}
