/**
 * Removal of what an invocation leaves behind. What is purged is out of sight at once; its rows go in slices that bound one
 * decision (SPEC END-4).
 */

import type { Invocation, InvocationId, TimerKey } from '@engine/domain';
import { limits } from '@engine/domain';

import type { Draft } from './draft.js';

/** Timers that a completed invocation has from its end on. */
export function retentionTimers(id: InvocationId, row: Invocation): readonly TimerKey[] {
  const completedAt = row.completedAt ?? row.modifiedAt;
  const purgeAt = completedAt + Math.max(row.completionRetentionMs, limits.END_GRACE_MS);
  const journalPurgeAt = completedAt + row.journalRetentionMs;
  const purgeKey = timerKey(id, 'purge', purgeAt);
  return journalPurgeAt < purgeAt
    ? [purgeKey, timerKey(id, 'purge-journal', journalPurgeAt)]
    : [purgeKey];
}

/** The journal goes, the result stays: its retention is over, or somebody asked for it. */
export function purgeJournal(draft: Draft, id: InvocationId, row: Invocation): void {
  const entriesMax = limits.PURGE_SLICE_ENTRIES;
  const left = removeSlice(draft, id, { row, keepsOutput: true, entriesMax });
  draft.putInvocation(id, left);
  if (left.purgeLength === undefined) return;
  draft.setTimer(timerKey(id, 'purge-journal', draft.at), row.incarnation);
}

/** Nobody can ask for it any more: everything goes; of a workflow run its state and promises too. */
export function purge(
  draft: Draft,
  id: InvocationId,
  { row, entriesMax }: { readonly row: Invocation; readonly entriesMax: number },
): void {
  const left = removeSlice(draft, id, { row, keepsOutput: false, entriesMax });
  if (left.purgeLength !== undefined) {
    draft.putInvocation(id, left);
    draft.setTimer(timerKey(id, 'purge', draft.at), row.incarnation);
    return;
  }
  // A journal that was purged before has left the output behind.
  if (row.result?.kind === 'output') draft.putJournalEntry(id, row.result.index, undefined);
  draft.putInvocation(id, undefined);
  if (row.purgedAt === undefined) purgeWorkflow(draft, row);
}

/**
 * Somebody purges a result before its retention is over. For everybody it is gone now; the request that made the invocation gets
 * its answer while it may still repeat itself (SPEC INV-RQ).
 */
export function purgeEarly(draft: Draft, id: InvocationId, row: Invocation): void {
  for (const timer of retentionTimers(id, row)) draft.removeTimer(timer, false);
  purgeWorkflow(draft, row);
  const purged: Invocation = { ...row, purgedAt: draft.at };
  const graceEnd = (row.completedAt ?? row.modifiedAt) + limits.END_GRACE_MS;
  if (draft.at >= graceEnd) {
    purge(draft, id, { row: purged, entriesMax: limits.PURGE_SLICE_ENTRIES });
    return;
  }
  draft.setTimer(timerKey(id, 'purge', graceEnd), row.incarnation);
  purgeJournal(draft, id, purged);
}

/**
 * Closes the journal and removes what is stored of it from its end, at most `entriesMax` entries. The stored output stays when
 * `keepsOutput` says so.
 *
 * @returns the row; the caller puts it. `purgeLength` is set as long as entries are left.
 */
function removeSlice(
  draft: Draft,
  id: InvocationId,
  slice: { readonly row: Invocation; readonly keepsOutput: boolean; readonly entriesMax: number },
): Invocation {
  const { row } = slice;
  const length = row.purgeLength ?? row.journalLength;
  const left = Math.max(0, length - slice.entriesMax);
  const outputIndex = row.result?.kind === 'output' ? row.result.index : undefined;
  const isCommandsOnly = row.purgeLength === undefined && row.commandCount === row.journalLength;
  for (let index = length - 1; index >= left; index -= 1) {
    if (!isCommandsOnly) {
      const entry = draft.journalEntry(id, index);
      if (entry?.kind === 'notification') draft.putNotification(id, entry.id, undefined);
    }
    if (slice.keepsOutput && index === outputIndex) continue;
    draft.putJournalEntry(id, index, undefined);
  }
  const purgeLength = left === 0 ? undefined : left;
  return { ...row, journalLength: 0, commandCount: 0, purgeLength };
}

function purgeWorkflow(draft: Draft, { target }: Invocation): void {
  if (target.kind !== 'workflow-run') return;
  const { service, key = '' } = target;
  for (const { key: stateKey } of draft.stateDirectory(service, key)?.entries ?? []) {
    draft.putState({ service, key, stateKey }, undefined);
  }
  draft.putStateDirectory(service, key, undefined);
  for (const name of draft.promiseDirectory(service, key)?.names ?? []) {
    draft.putPromise({ service, key, name }, undefined);
  }
  draft.putPromiseDirectory(service, key, undefined);
}

function timerKey(id: InvocationId, kind: 'purge' | 'purge-journal', dueAt: number): TimerKey {
  return { dueAt, kind, invocationId: id, index: 0 };
}
