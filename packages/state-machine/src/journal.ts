/** Appending to journals: dense, in order, each notification told to whom it concerns (SPEC JRN). */

import type {
  Invocation,
  InvocationId,
  JournalEntry,
  NotificationId,
  NotificationResult,
  NotificationType,
} from '@engine/domain';
import { CANCEL_SIGNAL_INDEX } from '@engine/domain';

import type { Draft } from './draft.js';
import { isAwaitOver, laterOf, mayRepeat, startAttempt } from './lifecycle.js';

/** Appends a command. Returns the row with the new lengths; the caller puts it. */
export function appendCommand(
  draft: Draft,
  id: InvocationId,
  append: {
    readonly row: Invocation;
    readonly entry: Exclude<JournalEntry, { kind: 'notification' }>;
  },
): Invocation {
  const { row, entry } = append;
  draft.putJournalEntry(id, row.journalLength, entry);
  return {
    ...row,
    journalLength: row.journalLength + 1,
    commandCount: row.commandCount + 1,
    modifiedAt: laterOf(row, draft),
  };
}

export interface Notification {
  readonly type: NotificationType;
  readonly id: NotificationId;
  readonly result: NotificationResult;
}

/**
 * Appends a notification, unless its id may come only once and has come. Returns the row with the new length; the caller puts it.
 * Effects: a running attempt is told.
 */
export function appendNotification(
  draft: Draft,
  id: InvocationId,
  append: { readonly row: Invocation; readonly notification: Notification },
): Invocation {
  const { row, notification } = append;
  const known = draft.notification(id, notification.id);
  if (known !== undefined && !mayRepeat(notification.id)) return row;
  const index = row.journalLength;
  const { type, id: notificationId, result } = notification;
  const entry = {
    kind: 'notification',
    type,
    id: notificationId,
    result,
    appendedAt: draft.at,
  } as const;
  draft.putJournalEntry(id, index, entry);
  draft.putNotification(id, notification.id, {
    firstIndex: known?.firstIndex ?? index,
    lastIndex: index,
    succeeded: notification.result.kind !== 'failure',
  });
  if (row.status === 'invoked') {
    draft.act({ kind: 'PushNotification', invocationId: id, attempt: row.attempt, index, entry });
  }
  return { ...row, journalLength: index + 1, modifiedAt: laterOf(row, draft) };
}

/**
 * Appends a notification from outside the running decision and wakes the invocation if that is what it waits for. A paused
 * invocation only wakes for a cancel. Work that has not started keeps the notification for its first attempt (SPEC SIG-2).
 */
export function notify(
  draft: Draft,
  id: InvocationId,
  arrival: { readonly row: Invocation; readonly notification: Notification },
): void {
  const before = arrival.row;
  const row = appendNotification(draft, id, arrival);
  if (row === before) return;
  if (before.status === 'suspended' && before.awaitingOn !== undefined) {
    const wait = { awaitingOn: before.awaitingOn, knownEntries: before.awaitKnownEntries ?? 0 };
    if (isAwaitOver(draft, id, wait)) {
      startAttempt(draft, id, row);
      return;
    }
  }
  if (before.status === 'paused' && isCancel(arrival.notification.id)) {
    startAttempt(draft, id, { ...row, retry: undefined });
    return;
  }
  draft.putInvocation(id, row);
}

export function isCancel(id: NotificationId): boolean {
  return id.kind === 'signal' && id.index === CANCEL_SIGNAL_INDEX;
}
