/** Reports of attempts. Only the running attempt of an invocation is heard; others are told to stop (SPEC ATM). */

import type { AttemptFailure, Invocation, InvocationId, Result } from '@engine/domain';
import { failureResult, limits, nextRetryDelayMs } from '@engine/domain';

import type {
  AttemptEnded,
  AttemptFailed,
  AttemptSuspended,
  CommandReceived,
  RunCompletionProposed,
} from '../command.js';
import type { Draft } from '../draft.js';
import { applyEntry } from '../entries/apply.js';
import { appendNotification } from '../journal.js';
import { complete, laterOf, pause, suspend } from '../lifecycle.js';
import { toNotification } from '../respond.js';

type Report =
  CommandReceived | RunCompletionProposed | AttemptSuspended | AttemptEnded | AttemptFailed;

/** Row of the invocation when the report comes from its running attempt. */
function rowOfRunning(draft: Draft, report: Report): Invocation | undefined {
  const { invocationId, attempt } = report;
  const row = draft.invocation(invocationId);
  if (
    row?.status === 'invoked' &&
    row.attempt === attempt &&
    row.retry?.nextAttemptAt === undefined
  ) {
    return row;
  }
  draft.act({ kind: 'AbortAttempt', invocationId, attempt });
  return undefined;
}

export function commandReceived(draft: Draft, command: CommandReceived): void {
  const row = rowOfRunning(draft, command);
  if (row === undefined) return;
  if (row.journalLength >= limits.JOURNAL_LENGTH_MAX && command.entry.type !== 'output') {
    pauseAtFullJournal(draft, command, row);
    return;
  }
  const commandIndex = row.commandCount;
  // A stored command is progress: earlier failures no longer count.
  const progressed: Invocation = { ...row, pin: row.pin ?? command.pin, retry: undefined };
  const after = applyEntry(draft, command.invocationId, {
    row: progressed,
    entry: command.entry,
  });
  draft.putInvocation(command.invocationId, after);
  draft.act({
    kind: 'ConfirmCommand',
    invocationId: command.invocationId,
    attempt: command.attempt,
    commandIndex,
    ackRequested: command.ackRequested,
  });
}

const COUNTED_ONCE = {
  failures: 1,
  setDelays: 0,
  failuresSinceLastCommand: 1,
  nextAttemptAt: undefined,
} as const;

/** Another try would come to the same end, so nobody tries: people decide what becomes of it (SPEC JRN-4). */
function pauseAtFullJournal(draft: Draft, command: CommandReceived, row: Invocation): void {
  const { invocationId, attempt } = command;
  const failure: AttemptFailure = {
    code: 500,
    docCode: undefined,
    message: `the journal has ${String(limits.JOURNAL_LENGTH_MAX)} entries, which is the most`,
    stacktrace: undefined,
    relatedCommandIndex: row.commandCount,
    relatedCommandName: command.entry.name,
    relatedCommandType: undefined,
  };
  draft.act({ kind: 'AbortAttempt', invocationId, attempt });
  pause(draft, invocationId, {
    ...row,
    retry: { ...COUNTED_ONCE, failure },
  });
}

export function runCompletionProposed(draft: Draft, command: RunCompletionProposed): void {
  const row = rowOfRunning(draft, command);
  if (row === undefined) return;
  const pinned: Invocation = row.pin === undefined ? { ...row, pin: command.pin } : row;
  const after = appendNotification(draft, command.invocationId, {
    row: pinned,
    notification: {
      type: 'run',
      id: { kind: 'completion', id: command.completionId },
      result: toNotification(command.result),
    },
  });
  draft.putInvocation(command.invocationId, after);
}

export function attemptSuspended(draft: Draft, command: AttemptSuspended): void {
  const row = rowOfRunning(draft, command);
  if (row === undefined) return;
  const { awaitingOn, knownEntries } = command;
  suspend(draft, command.invocationId, { row, awaitingOn, knownEntries });
}

export function attemptEnded(draft: Draft, command: AttemptEnded): void {
  const row = rowOfRunning(draft, command);
  if (row === undefined) return;
  const id = command.invocationId;
  const output = lastOutput(draft, id, row);
  if (output === undefined) {
    const result = failureResult(500, 'the handler ended without an output');
    complete(draft, id, { row, result, stored: result });
    return;
  }
  const { index, result } = output;
  const succeeded = result.kind === 'success';
  complete(draft, id, { row, result, stored: { kind: 'output', index, succeeded } });
}

/** The last output in the journal is the result (SPEC END-1). */
function lastOutput(
  draft: Draft,
  id: InvocationId,
  row: Invocation,
): { readonly index: number; readonly result: Result } | undefined {
  for (let index = row.journalLength - 1; index > 0; index -= 1) {
    const entry = draft.journalEntry(id, index);
    if (entry?.kind === 'output') return { index, result: entry.result };
  }
  return undefined;
}

export function attemptFailed(draft: Draft, command: AttemptFailed): void {
  const row = rowOfRunning(draft, command);
  if (row === undefined) return;
  const id = command.invocationId;
  const failure = shorten(command.failure);
  switch (command.behavior) {
    case 'pause':
      pause(draft, id, withFailure(row, command, failure));
      return;
    case 'fail':
      completeWithFailure(draft, id, { row, failure });
      return;
    case 'retry':
      retry(draft, command, { row, failure });
      return;
  }
}

function retry(
  draft: Draft,
  command: AttemptFailed,
  failed: { readonly row: Invocation; readonly failure: AttemptFailure },
): void {
  const id = command.invocationId;
  const row = withFailure(failed.row, command, failed.failure);
  const policyDelayMs = isFree(command, failed.row)
    ? 0
    : nextRetryDelayMs(command.policy, row.retry?.failures ?? 1, command.chance);
  const delayMs = policyDelayMs === undefined ? undefined : (command.retryDelayMs ?? policyDelayMs);
  if (delayMs === undefined) {
    if (command.policy.onMaxAttempts === 'pause') pause(draft, id, row);
    else completeWithFailure(draft, id, { row: failed.row, failure: failed.failure });
    return;
  }
  const nextAttemptAt = laterOf(row, draft) + delayMs;
  draft.putInvocation(id, {
    ...row,
    retry: row.retry === undefined ? undefined : { ...row.retry, nextAttemptAt },
    modifiedAt: laterOf(row, draft),
  });
  const key = { dueAt: nextAttemptAt, kind: 'retry', invocationId: id, index: 0 } as const;
  draft.setTimer(key, row.incarnation);
}

/** True while a delay set by the deployment uses up no attempt of the policy (SPEC RTY-2). */
function isFree(command: AttemptFailed, { retry: before }: Invocation): boolean {
  return (
    command.retryDelayMs !== undefined && (before?.setDelays ?? 0) < limits.FREE_RETRY_DELAYS_MAX
  );
}

/** Counts a failure. */
function withFailure(row: Invocation, command: AttemptFailed, failure: AttemptFailure): Invocation {
  const before = row.retry;
  const free = isFree(command, row) ? 1 : 0;
  return {
    ...row,
    retry: {
      failures: (before?.failures ?? 0) + 1 - free,
      setDelays: (before?.setDelays ?? 0) + free,
      failuresSinceLastCommand:
        (before?.failuresSinceLastCommand ?? 0) + (command.reachedHandler ? 1 : 0),
      nextAttemptAt: undefined,
      failure,
    },
  };
}

function completeWithFailure(
  draft: Draft,
  id: InvocationId,
  end: { readonly row: Invocation; readonly failure: AttemptFailure },
): void {
  const { code, message, stacktrace } = end.failure;
  const failure = { code, message, metadata: [], stacktrace };
  complete(draft, id, {
    row: end.row,
    result: { kind: 'failure', failure },
    stored: { kind: 'failure', failure },
  });
}

/** The row of an invocation keeps only so much of a failure. */
function shorten(failure: AttemptFailure): AttemptFailure {
  const max = limits.FAILURE_TEXT_BYTES_MAX;
  if (failure.message.length <= max && (failure.stacktrace?.length ?? 0) <= max) return failure;
  return {
    ...failure,
    message: failure.message.slice(0, max),
    stacktrace: failure.stacktrace?.slice(0, max),
  };
}
