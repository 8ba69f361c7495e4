/** Removal of what an invocation leaves behind, in slices that bound one decision (SPEC END-4). */

import type { Invocation, InvocationId } from '@engine/domain';
import { limits } from '@engine/domain';

import type { Draft } from './draft.js';

/**
 * Removes the journal from its end, at most `entriesMax` entries. The stored output stays when `keepsOutput` says so.
 *
 * @returns the row with what is left of the journal; the caller puts it
 */
function purgeJournalSlice(
  draft: Draft,
  id: InvocationId,
  slice: { readonly row: Invocation; readonly keepsOutput: boolean; readonly entriesMax: number },
): Invocation {
  const { row } = slice;
  const left = Math.max(0, row.journalLength - slice.entriesMax);
  const outputIndex = row.result?.kind === 'output' ? row.result.index : undefined;
  const hasNotifications = row.commandCount < row.journalLength;
  for (let index = row.journalLength - 1; index >= left; index -= 1) {
    if (hasNotifications) {
      const entry = draft.journalEntry(id, index);
      if (entry?.kind === 'notification') draft.putNotification(id, entry.id, undefined);
    }
    if (slice.keepsOutput && index === outputIndex) continue;
    draft.putJournalEntry(id, index, undefined);
  }
  // Fewer commands than entries: the next slice must go on looking for notifications.
  const commandCount = hasNotifications ? Math.min(row.commandCount, Math.max(0, left - 1)) : left;
  return { ...row, journalLength: left, commandCount };
}

/** Retention of the journal is over: the journal goes, the result stays. */
export function purgeJournal(draft: Draft, id: InvocationId, row: Invocation): void {
  const entriesMax = limits.PURGE_SLICE_ENTRIES;
  const left = purgeJournalSlice(draft, id, { row, keepsOutput: true, entriesMax });
  draft.putInvocation(id, left);
  if (left.journalLength === 0) return;
  const key = { dueAt: draft.at, kind: 'purge-journal', invocationId: id, index: 0 } as const;
  draft.setTimer(key, row.incarnation);
}

/** Retention of the result is over: everything goes; of a workflow run its state and promises too. */
export function purge(
  draft: Draft,
  id: InvocationId,
  { row, entriesMax }: { readonly row: Invocation; readonly entriesMax: number },
): void {
  const left = purgeJournalSlice(draft, id, { row, keepsOutput: false, entriesMax });
  if (left.journalLength > 0) {
    draft.putInvocation(id, left);
    const key = { dueAt: draft.at, kind: 'purge', invocationId: id, index: 0 } as const;
    draft.setTimer(key, row.incarnation);
    return;
  }
  if (row.result?.kind === 'output' && row.result.index >= row.journalLength) {
    draft.putJournalEntry(id, row.result.index, undefined);
  }
  draft.putInvocation(id, undefined);
  if (row.target.kind === 'workflow-run') purgeWorkflow(draft, row.target.service, row.target.key);
}

function purgeWorkflow(draft: Draft, service: string, key = ''): void {
  for (const { key: stateKey } of draft.stateDirectory(service, key)?.entries ?? []) {
    draft.putState({ service, key, stateKey }, undefined);
  }
  draft.putStateDirectory(service, key, undefined);
  for (const name of draft.promiseDirectory(service, key)?.names ?? []) {
    draft.putPromise({ service, key, name }, undefined);
  }
  draft.putPromiseDirectory(service, key, undefined);
}
