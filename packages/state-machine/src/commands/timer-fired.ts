/** A timer came due. Its row goes in every case; what it meant may be over (SPEC TMR). */

import type { Invocation } from '@engine/domain';
import { isInFlight, limits, VOID } from '@engine/domain';

import type { TimerFired } from '../command.js';
import type { Draft } from '../draft.js';
import { notify } from '../journal.js';
import { admit, startAttempt } from '../lifecycle.js';
import { purge, purgeJournal } from '../purge.js';

export function timerFired(draft: Draft, command: TimerFired): void {
  const { key } = command;
  draft.removeTimer(key, true);
  const row = draft.invocation(key.invocationId);
  if (row?.incarnation !== command.incarnation) return;
  applyTimer(draft, command, row);
}

function applyTimer(draft: Draft, { key }: TimerFired, row: Invocation): void {
  const id = key.invocationId;
  switch (key.kind) {
    case 'start':
      if (row.status === 'scheduled') admit(draft, id, row);
      return;
    case 'sleep':
      if (!isInFlight(row.status)) return;
      notify(draft, id, {
        row,
        notification: {
          type: 'sleep',
          id: { kind: 'completion', id: key.index },
          result: VOID,
        },
      });
      return;
    case 'retry':
      if (row.status === 'invoked' && row.retry?.nextAttemptAt === key.dueAt) {
        startAttempt(draft, id, row);
      }
      return;
    case 'purge-journal':
      if (row.status === 'completed') purgeJournal(draft, id, row);
      return;
    case 'purge':
      if (row.status === 'completed') {
        purge(draft, id, { row, entriesMax: limits.PURGE_SLICE_ENTRIES });
      }
      return;
  }
}
