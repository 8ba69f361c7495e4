/**
 * What must hold after every decision (SPEC INV). Checked by scenarios, properties and the simulation over the rows that a
 * decision wrote; `state` already contains them.
 */

import type { Invocation, InvocationId } from '@engine/domain';
import { isExclusive, isInFlight } from '@engine/domain';
import type { Mutation, StateReader } from '@engine/storage';

import type { Outcome } from './outcome.js';

/** Sentences about broken rules, each with its number; empty when all hold. */
export function violations(state: StateReader, outcome: Outcome): readonly string[] {
  const found: string[] = [];
  for (const mutation of outcome.mutations) {
    if (mutation.table === 'invocation' && mutation.row !== undefined) {
      found.push(...rowViolations(state, mutation.id, mutation.row));
    }
    if (mutation.table === 'active') found.push(...activeViolations(state, mutation));
    if (mutation.table === 'object-lock') found.push(...lockViolations(state, mutation));
  }
  for (const action of outcome.actions) {
    if (action.kind !== 'StartAttempt') continue;
    const row = state.invocation(action.invocationId);
    if (row !== undefined && row.attempt < action.attempt) {
      found.push(`INV-7 ${action.invocationId}: attempt ${String(action.attempt)} is not counted`);
    }
  }
  return found;
}

function rowViolations(state: StateReader, id: InvocationId, row: Invocation): string[] {
  const found: string[] = [];
  const rule = (holds: boolean, text: string): void => {
    if (!holds) found.push(`${text} (${id} is ${row.status})`);
  };
  const isSuspended = row.status === 'suspended';
  const isCompleted = row.status === 'completed';
  rule(isSuspended === (row.awaitingOn !== undefined), 'INV-2 exactly suspended rows await');
  rule(isSuspended === (row.awaitKnownEntries !== undefined), 'INV-2 exactly suspended rows await');
  rule(isCompleted === (row.result !== undefined), 'INV-3 exactly completed rows have a result');
  rule(isCompleted === (row.completedAt !== undefined), 'INV-3 exactly completed rows have an end');
  rule(!isCompleted || row.sinks.length === 0, 'INV-3 nobody waits for a completed invocation');
  rule(row.commandCount <= row.journalLength, 'INV-4 commands are entries');
  rule(isCompleted || row.journalLength > 0, 'INV-4 a live journal has its input');
  rule(
    row.journalLength === 0 || isCompleted || isStored(state, id, row.journalLength - 1),
    'INV-4 journals are dense',
  );
  rule(isCompleted || row.purgedAt === undefined, 'INV-3 only completed work is purged');
  rule(isCompleted || row.purgeLength === undefined, 'INV-4 live journals are not purged');
  rule(row.purgeLength === undefined || row.journalLength === 0, 'INV-4 purged journals are empty');
  rule(row.createdAt <= row.modifiedAt, 'INV-5 time does not go backwards');
  rule(row.retry === undefined || row.status !== 'suspended', 'INV-2 sleeping work does not retry');
  if (isExclusive(row.target.kind) && isInFlight(row.status)) {
    const lock = state.objectLock(row.target.service, row.target.key ?? '');
    rule(lock?.holder === id, 'INV-1 a started exclusive invocation holds its key');
  }
  return found;
}

function isStored(state: StateReader, id: InvocationId, index: number): boolean {
  return state.journalEntry(id, index) !== undefined;
}

function activeViolations(
  state: StateReader,
  { id, row }: Extract<Mutation, { table: 'active' }>,
): string[] {
  const isInvoked = state.invocation(id)?.status === 'invoked';
  return isInvoked === (row === true)
    ? []
    : [`INV-8 the active index has exactly invoked work (${id})`];
}

function lockViolations(
  state: StateReader,
  { service, key, row }: Extract<Mutation, { table: 'object-lock' }>,
): string[] {
  if (row === undefined) return [];
  const place = `${service}/${key}`;
  const holder = state.invocation(row.holder);
  const found: string[] = [];
  if (holder === undefined || !isInFlight(holder.status)) {
    found.push(`INV-1 the holder of ${place} is in flight`);
  }
  if (row.inboxHead > row.inboxTail) found.push(`INV-1 the inbox of ${place} has a length`);
  if (row.replacements > row.inboxTail - row.inboxHead || row.replacements < 0) {
    found.push(`INV-1 replacements of ${place} wait in its inbox`);
  }
  return found;
}
