/** Restart as new: a completed invocation runs once more under another id, with the first entries of its journal (SPEC RST). */

import type { Invocation, InvocationId, JournalEntry, OperationOutcome } from '@engine/domain';
import { isExclusive, isRetained, limits } from '@engine/domain';

import type { RestartAsNew } from '../command.js';
import type { Draft } from '../draft.js';
import { admit } from '../lifecycle.js';
import { newInvocation } from '../new-invocation.js';
import { repin } from '../repin.js';
import { isInboxFull } from '../turns.js';

/** Older SDKs draw randomness from the invocation id, which a restarted one does not share. */
const PROTOCOL_WITH_SEED_MIN = 6;

export function restartAsNew(draft: Draft, command: RestartAsNew): OperationOutcome {
  const { invocationId, newInvocationId, deployment } = command;
  const known = draft.invocation(newInvocationId);
  if (known !== undefined) return isRestartOf(known, invocationId) ? 'done' : 'still-running';
  const original = draft.invocation(invocationId);
  const refusal = refusalFor(draft, original);
  if (refusal !== undefined || original === undefined) return refusal ?? 'not-found';
  const repinned = repin(original, deployment);
  if (repinned.kind === 'refused') return repinned.outcome;
  const copied = entriesToCopy(draft, command, repinned.row);
  if (typeof copied === 'string') return copied;
  if (isExclusive(original.target.kind) && isInboxFull(draft, original.target)) {
    return 'limit-reached';
  }
  const row = newRow(draft, command, { original: repinned.row, copied });
  copyEntries(draft, newInvocationId, copied);
  admit(draft, newInvocationId, row);
  return 'done';
}

/** The request comes once more: what it asked for is there. */
function isRestartOf({ source }: Invocation, originalId: InvocationId): boolean {
  return source.kind === 'restart-as-new' && source.originalId === originalId;
}

function refusalFor(draft: Draft, row: Invocation | undefined): OperationOutcome | undefined {
  switch (row?.status) {
    case undefined:
      return 'not-found';
    case 'scheduled':
    case 'inboxed':
      return 'not-started';
    case 'invoked':
    case 'suspended':
    case 'paused':
      return 'still-running';
    case 'completed': {
      if (!isRetained(row, draft.at)) return 'not-found';
      if (row.journalLength === 0) return 'journal-missing';
      const { kind } = row.target;
      const isWorkflow = kind === 'workflow-run' || kind === 'workflow-shared';
      return isWorkflow ? 'workflow-unsupported' : undefined;
    }
  }
}

/**
 * Entries up to `copyUpTo`, then those completions of copied commands that came later, in their order. Later signals and outputs
 * stay behind. A command without all its completions cannot be copied: nobody would ever complete it.
 */
function entriesToCopy(
  draft: Draft,
  { invocationId: id, copyUpTo }: RestartAsNew,
  row: Invocation,
): readonly JournalEntry[] | OperationOutcome {
  if (copyUpTo >= row.journalLength) return 'journal-position-invalid';
  const version = row.pin?.protocolVersion ?? PROTOCOL_WITH_SEED_MIN;
  if (copyUpTo > 0 && version < PROTOCOL_WITH_SEED_MIN) return 'journal-position-invalid';
  if (copyUpTo >= limits.RESTART_ENTRIES_MAX) return 'limit-reached';
  const copied: JournalEntry[] = [];
  const later: number[] = [];
  for (let index = 0; index <= copyUpTo; index += 1) {
    const entry = draft.journalEntry(id, index);
    if (entry === undefined) return 'journal-missing';
    copied.push(entry);
    for (const completion of completionsOf(entry)) {
      const place = draft.notification(id, { kind: 'completion', id: completion });
      if (place === undefined) return 'journal-position-invalid';
      if (place.firstIndex > copyUpTo) later.push(place.firstIndex);
    }
  }
  for (const index of later.sort((a, b) => a - b)) {
    const entry = draft.journalEntry(id, index);
    if (entry !== undefined) copied.push(entry);
  }
  return isTooMuch(copied) ? 'limit-reached' : copied;
}

function completionsOf(entry: JournalEntry): readonly number[] {
  if (entry.kind !== 'command') return [];
  const { completionId, invocationIdCompletionId } = entry;
  return [completionId, invocationIdCompletionId].filter((id) => id !== undefined);
}

function isTooMuch(copied: readonly JournalEntry[]): boolean {
  let bytes = 0;
  for (const entry of copied.slice(1)) bytes += payloadBytes(entry);
  return copied.length > limits.RESTART_ENTRIES_MAX || bytes > limits.RESTART_BYTES_MAX;
}

function payloadBytes(entry: JournalEntry): number {
  switch (entry.kind) {
    case 'input':
      return entry.payload.length;
    case 'command':
      return entry.raw.length;
    case 'output':
      return entry.result.kind === 'success' ? entry.result.value.length : 0;
    case 'notification':
      return entry.result.kind === 'value' ? entry.result.value.length : 0;
  }
}

function newRow(
  draft: Draft,
  { invocationId, copyUpTo }: RestartAsNew,
  from: { readonly original: Invocation; readonly copied: readonly JournalEntry[] },
): Invocation {
  const { original, copied } = from;
  const { target, completionRetentionMs, journalRetentionMs, pin } = original;
  const blank = newInvocation(draft, {
    target,
    source: { kind: 'restart-as-new', originalId: invocationId },
    completionRetentionMs,
    journalRetentionMs,
  });
  const seedId = original.inherited?.seedId ?? invocationId;
  return {
    ...blank,
    journalLength: copied.length,
    commandCount: copied.filter((entry) => entry.kind !== 'notification').length,
    pin,
    inherited: copyUpTo === 0 ? undefined : { entries: copied.length, seedId },
  };
}

function copyEntries(draft: Draft, id: InvocationId, copied: readonly JournalEntry[]): void {
  copied.forEach((entry, index) => {
    draft.putJournalEntry(id, index, entry);
    if (entry.kind !== 'notification') return;
    const known = draft.notification(id, entry.id);
    draft.putNotification(id, entry.id, {
      firstIndex: known?.firstIndex ?? index,
      lastIndex: index,
      succeeded: entry.result.kind !== 'failure',
    });
  });
}
