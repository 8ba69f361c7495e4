/** The row of an invocation that nothing has happened to yet. */

import type { Invocation } from '@engine/domain';

import type { Draft } from './draft.js';

type Given = Pick<
  Invocation,
  'target' | 'source' | 'completionRetentionMs' | 'journalRetentionMs'
> &
  Partial<Pick<Invocation, 'sinks' | 'idempotencyKey' | 'executionTime'>>;

/** Its journal is empty: the caller appends the input before it puts the row. */
export function newInvocation(draft: Draft, given: Given): Invocation {
  const { executionTime } = given;
  const isDelayed = executionTime !== undefined && executionTime > draft.at;
  return {
    status: isDelayed ? 'scheduled' : 'inboxed',
    incarnation: draft.context.incarnation,
    target: given.target,
    source: given.source,
    sinks: given.sinks ?? [],
    idempotencyKey: given.idempotencyKey,
    executionTime,
    completionRetentionMs: given.completionRetentionMs,
    journalRetentionMs: given.journalRetentionMs,
    createdAt: draft.at,
    modifiedAt: draft.at,
    scheduledAt: isDelayed ? draft.at : undefined,
    inboxedAt: undefined,
    runningAt: undefined,
    completedAt: undefined,
    inboxSequence: undefined,
    journalLength: 0,
    commandCount: 0,
    pin: undefined,
    attempt: 0,
    lastAttemptAt: undefined,
    retry: undefined,
    awaitingOn: undefined,
    awaitKnownEntries: undefined,
    result: undefined,
    purgedAt: undefined,
    purgeLength: undefined,
    inherited: undefined,
  };
}
