/** Purge: completed work is forgotten before its retention is over (SPEC END-5, END-6). */

import type { Invocation, InvocationId, OperationOutcome } from '@engine/domain';
import { isRetained } from '@engine/domain';

import type { Draft } from '../draft.js';
import { purgeEarly, purgeJournal } from '../purge.js';

export function purgeInvocation(draft: Draft, id: InvocationId): OperationOutcome {
  return ofCompleted(draft, id, (row) => {
    purgeEarly(draft, id, row);
  });
}

/** The result stays. There may be no journal any more; then nothing changes. */
export function purgeJournalOf(draft: Draft, id: InvocationId): OperationOutcome {
  return ofCompleted(draft, id, (row) => {
    if (row.journalLength > 0) purgeJournal(draft, id, row);
  });
}

function ofCompleted(
  draft: Draft,
  id: InvocationId,
  operate: (row: Invocation) => void,
): OperationOutcome {
  const row = draft.invocation(id);
  if (row === undefined) return 'not-found';
  if (row.status !== 'completed') return 'not-completed';
  if (!isRetained(row, draft.at)) return 'not-found';
  operate(row);
  return 'done';
}
