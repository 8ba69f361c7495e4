/** Cancel asks the handler, kill does not (SPEC TRM). Work that has not started ends at once either way. */

import type {
  Invocation,
  InvocationId,
  NotificationId,
  NotificationResult,
  OperationOutcome,
} from '@engine/domain';
import { CANCEL_SIGNAL_INDEX, failureResult, isRetained, limits, VOID } from '@engine/domain';

import type { Draft } from '../draft.js';
import { isCancel, notify } from '../journal.js';
import { complete, completeBeforeStart } from '../lifecycle.js';

export function cancel(draft: Draft, id: InvocationId): OperationOutcome {
  const row = draft.invocation(id);
  switch (row?.status) {
    case undefined:
      return 'not-found';
    case 'scheduled':
    case 'inboxed':
      completeBeforeStart(draft, id, { row, result: failureResult(409, 'canceled') });
      return 'done';
    case 'invoked':
    case 'suspended':
    case 'paused':
      notify(draft, id, {
        row,
        notification: {
          type: 'signal',
          id: { kind: 'signal', index: CANCEL_SIGNAL_INDEX },
          result: VOID,
        },
      });
      return 'appended';
    case 'completed':
      return isRetained(row, draft.at) ? 'already-completed' : 'not-found';
  }
}

export function kill(draft: Draft, id: InvocationId): OperationOutcome {
  const row = draft.invocation(id);
  const result = failureResult(409, 'killed');
  switch (row?.status) {
    case undefined:
      return 'not-found';
    case 'scheduled':
    case 'inboxed':
      completeBeforeStart(draft, id, { row, result });
      return 'done';
    case 'invoked':
    case 'suspended':
    case 'paused':
      draft.act({ kind: 'AbortAttempt', invocationId: id, attempt: row.attempt });
      killChildren(draft, id, row);
      complete(draft, id, { row, result, stored: result });
      return 'done';
    case 'completed':
      return isRetained(row, draft.at) ? 'already-completed' : 'not-found';
  }
}

/**
 * Kills what the handler called and what it sent one way: nobody is left who would look after it (SPEC TRM-4). What a restarted
 * invocation took over was started by the original, and stays.
 */
function killChildren(draft: Draft, id: InvocationId, row: Invocation): void {
  if (row.commandCount <= 1) return;
  for (let index = row.inherited?.entries ?? 1; index < row.journalLength; index += 1) {
    const entry = draft.journalEntry(id, index);
    if (entry?.kind !== 'command' || entry.callee === undefined) continue;
    draft.send({ kind: 'kill', invocationId: entry.callee });
  }
}

/** Delivers a signal. Unknown and ended invocations and full journals drop it: the sender is not told (SPEC SIG-3, JRN-4). */
export function signal(
  draft: Draft,
  id: InvocationId,
  arrival: { readonly id: NotificationId; readonly result: NotificationResult },
): void {
  if (isCancel(arrival.id)) {
    cancel(draft, id);
    return;
  }
  const row = draft.invocation(id);
  if (row === undefined || row.status === 'completed') return;
  if (row.journalLength >= limits.JOURNAL_LENGTH_MAX) return;
  const notification = { type: 'signal', id: arrival.id, result: arrival.result } as const;
  notify(draft, id, { row, notification });
}
