/** Steps of an invocation's life that several commands share: admission, attempts, suspension, completion. */

import type {
  AwaitTree,
  CompletedResult,
  Invocation,
  InvocationId,
  NotificationId,
  Result,
} from '@engine/domain';
import { AWAKEABLE_SIGNAL_INDEX_MIN, failureResult, isExclusive } from '@engine/domain';

import { resolveAwait, type Arrival } from './await-tree.js';
import type { Draft } from './draft.js';
import { retentionTimers } from './purge.js';
import { respond } from './respond.js';
import { handOverLock, removeFromInbox, takeTurn } from './turns.js';

/** Brings an invocation to its first attempt, or into the inbox of its object (SPEC OBJ-1). */
export function admit(draft: Draft, id: InvocationId, row: Invocation): void {
  if (!isExclusive(row.target.kind)) {
    startAttempt(draft, id, row);
    return;
  }
  const turn = takeTurn(draft, id, row.target);
  switch (turn.kind) {
    case 'now':
      startAttempt(draft, id, row);
      return;
    case 'later':
      draft.putInvocation(id, {
        ...row,
        status: 'inboxed',
        inboxedAt: draft.at,
        inboxSequence: turn.sequence,
        modifiedAt: laterOf(row, draft),
      });
      return;
    case 'full':
      completeBeforeStart(draft, id, {
        row,
        result: failureResult(429, 'too many requests wait for this object key'),
      });
      return;
  }
}

/** Starts the next attempt. Any earlier one no longer counts. */
export function startAttempt(draft: Draft, id: InvocationId, row: Invocation): void {
  const attempt = row.attempt + 1;
  draft.putInvocation(id, {
    ...row,
    status: 'invoked',
    attempt,
    awaitingOn: undefined,
    awaitKnownEntries: undefined,
    runningAt: row.runningAt ?? draft.at,
    lastAttemptAt: draft.at,
    retry: row.retry === undefined ? undefined : { ...row.retry, nextAttemptAt: undefined },
    modifiedAt: laterOf(row, draft),
  });
  draft.putActive(id, true);
  draft.act({ kind: 'StartAttempt', invocationId: id, attempt });
}

/**
 * Ends an attempt that waits. What it waits for may have arrived while its last words were on the way, then the next attempt
 * starts at once (SPEC AWT-2).
 */
export function suspend(
  draft: Draft,
  id: InvocationId,
  wait: {
    readonly row: Invocation;
    readonly awaitingOn: AwaitTree;
    readonly knownEntries: number;
  },
): void {
  const row: Invocation = { ...wait.row, retry: undefined };
  if (isAwaitOver(draft, id, wait)) {
    startAttempt(draft, id, row);
    return;
  }
  draft.putActive(id, false);
  draft.putInvocation(id, {
    ...row,
    status: 'suspended',
    awaitingOn: wait.awaitingOn,
    awaitKnownEntries: wait.knownEntries,
    modifiedAt: laterOf(row, draft),
  });
}

/** Stops attempts until somebody resumes the invocation. Locks and journal are kept. */
export function pause(draft: Draft, id: InvocationId, row: Invocation): void {
  if (row.status === 'invoked') draft.putActive(id, false);
  dropRetryTimer(draft, id, row);
  draft.putInvocation(id, {
    ...row,
    status: 'paused',
    awaitingOn: undefined,
    awaitKnownEntries: undefined,
    retry: row.retry === undefined ? undefined : { ...row.retry, nextAttemptAt: undefined },
    modifiedAt: laterOf(row, draft),
  });
}

/** An attempt that was to be tried again later starts now or never. */
export function dropRetryTimer(draft: Draft, id: InvocationId, row: Invocation): void {
  const dueAt = row.retry?.nextAttemptAt;
  if (dueAt === undefined) return;
  draft.removeTimer({ dueAt, kind: 'retry', invocationId: id, index: 0 }, false);
}

/**
 * True when a tree is satisfied by the journal.
 *
 * A completion and an awakeable arrive once, so being there is enough. Other signals may repeat: one that the handler has
 * already seen, at an index below `knownEntries`, does not wake it again.
 */
export function isAwaitOver(
  draft: Draft,
  id: InvocationId,
  wait: { readonly awaitingOn: AwaitTree; readonly knownEntries: number },
): boolean {
  const arrivalOf = (notification: NotificationId): Arrival => {
    const entry = draft.notification(id, notification);
    if (entry === undefined) return 'pending';
    if (mayRepeat(notification) && entry.lastIndex < wait.knownEntries) return 'pending';
    return entry.succeeded ? 'success' : 'failure';
  };
  return resolveAwait(wait.awaitingOn, arrivalOf) !== 'pending';
}

/** True for signals that an invocation may get any number of times. */
export function mayRepeat(id: NotificationId): boolean {
  switch (id.kind) {
    case 'completion':
      return false;
    case 'signal':
      return id.index < AWAKEABLE_SIGNAL_INDEX_MIN;
    case 'named-signal':
      return true;
  }
}

/**
 * Ends an invocation that has started: answers everybody, passes the lock on, starts the clocks of retention (SPEC END).
 * `result` is what callers get, `stored` where it stays.
 */
export function complete(
  draft: Draft,
  id: InvocationId,
  end: {
    readonly row: Invocation;
    readonly result: Result;
    readonly stored: CompletedResult;
  },
): void {
  const { row } = end;
  if (row.status === 'invoked') draft.putActive(id, false);
  dropRetryTimer(draft, id, row);
  finish(draft, id, end);
  if (isExclusive(row.target.kind)) {
    const next = handOverLock(draft, id, row.target);
    if (next !== undefined) startAttempt(draft, next.id, next.row);
  }
}

/** Ends an invocation that never ran (scheduled, inboxed or refused). Nothing of it is offered to later callers. */
export function completeBeforeStart(
  draft: Draft,
  id: InvocationId,
  end: {
    readonly row: Invocation;
    readonly result: Extract<Result, { readonly kind: 'failure' }>;
  },
): void {
  const { row, result } = end;
  if (row.status === 'scheduled' && row.executionTime !== undefined) {
    const dueAt = row.executionTime;
    draft.removeTimer({ dueAt, kind: 'start', invocationId: id, index: 0 }, false);
  }
  if (row.status === 'inboxed' && row.inboxSequence !== undefined) {
    removeFromInbox(draft, row.target, row.inboxSequence);
  }
  finish(draft, id, {
    row: { ...row, completionRetentionMs: 0, journalRetentionMs: 0 },
    result,
    stored: { kind: 'failure', failure: result.failure },
  });
}

function finish(
  draft: Draft,
  id: InvocationId,
  end: {
    readonly row: Invocation;
    readonly result: Result;
    readonly stored: CompletedResult;
  },
): void {
  const { row } = end;
  const completedAt = laterOf(row, draft);
  for (const sink of row.sinks) respond(draft, sink, { result: end.result, target: row.target });
  const completed: Invocation = {
    ...row,
    status: 'completed',
    sinks: [],
    inboxSequence: undefined,
    awaitingOn: undefined,
    awaitKnownEntries: undefined,
    retry: undefined,
    result: end.stored,
    completedAt,
    modifiedAt: completedAt,
  };
  draft.putInvocation(id, completed);
  for (const timer of retentionTimers(id, completed)) draft.setTimer(timer, row.incarnation);
}

/** Time of a change: never before the last one, whatever the clock says. */
export function laterOf(row: Invocation, draft: Draft): number {
  return Math.max(row.modifiedAt, draft.at);
}
