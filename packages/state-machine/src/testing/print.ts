/** Outcomes in words, for the transcripts of scenarios. */

import type {
  AwaitTree,
  InboxEntry,
  Invocation,
  JournalEntry,
  NotificationResult,
  PartitionAnswer,
  PartitionMessage,
  Result,
} from '@engine/domain';
import { notificationKey } from '@engine/domain';
import { decodeUtf8 } from '@engine/stdx';
import type { Mutation } from '@engine/storage';

import type { Action, Outcome } from '../outcome.js';
import { placeOf } from './map-state.js';

/** One line per mutation (`+` put, `-` delete) and action (`!`), in the order of the outcome. */
export function printOutcome(outcome: Outcome): readonly string[] {
  return [...outcome.mutations.map(printMutation), ...outcome.actions.map(printAction)];
}

function printMutation(mutation: Mutation): string {
  const place = placeOf(mutation);
  return mutation.row === undefined ? `  - ${place}` : `  + ${place}${printRow(mutation)}`;
}

function printRow(mutation: Mutation): string {
  if (mutation.row === undefined) return '';
  switch (mutation.table) {
    case 'invocation':
      return `: ${printInvocation(mutation.row)}`;
    case 'journal':
      return `: ${printEntry(mutation.row)}`;
    case 'notification':
      return ` → entry ${String(mutation.row.lastIndex)}`;
    case 'object-lock': {
      const { holder, inboxHead, inboxTail } = mutation.row;
      return `: held by ${holder}, ${String(inboxTail - inboxHead)} waiting`;
    }
    case 'inbox':
      return `: ${printWaiting(mutation.row)}`;
    case 'state':
      return ` = ${decodeUtf8(mutation.row)}`;
    case 'state-directory':
      return `: ${mutation.row.entries.map((entry) => entry.key).join(' ')}`;
    case 'promise':
      return mutation.row.kind === 'completed'
        ? `: ${printResult(mutation.row.result)}`
        : `: ${String(mutation.row.listeners.length)} waiting`;
    case 'promise-directory':
      return `: ${mutation.row.names.join(' ')}`;
    case 'outbox':
      return `: ${printMessage(mutation.row)}`;
    case 'outbox-cursor':
      return `: ${String(mutation.row.first)} to ${String(mutation.row.next)}`;
    case 'inbound':
      return `: ${String(mutation.row)}`;
    case 'active':
    case 'timer':
      return '';
  }
}

function printWaiting(entry: InboxEntry): string {
  if (entry.kind === 'invocation') return entry.invocationId;
  const keys = entry.replacement.entries.map(({ key }) => key);
  return `new state ${keys.length === 0 ? 'nothing' : keys.join(' ')}`;
}

function printInvocation(row: Invocation): string {
  const parts: string[] = [row.status, `journal ${String(row.journalLength)}`];
  if (row.attempt > 0) parts.push(`attempt ${String(row.attempt)}`);
  if (row.sinks.length > 0) parts.push(`${String(row.sinks.length)} waiting`);
  if (row.awaitingOn !== undefined) parts.push(`awaits ${printTree(row.awaitingOn)}`);
  if (row.retry !== undefined) {
    const { failures, nextAttemptAt } = row.retry;
    const next = nextAttemptAt === undefined ? '' : `, next at ${String(nextAttemptAt)}`;
    parts.push(`${String(failures)} failures${next}`);
  }
  if (row.result?.kind === 'output') parts.push(`result in entry ${String(row.result.index)}`);
  if (row.result?.kind === 'failure') {
    parts.push(`failed ${String(row.result.failure.code)} ${row.result.failure.message}`);
  }
  if (row.pin !== undefined && row.pin.deploymentId !== 'dp')
    parts.push(`on ${row.pin.deploymentId}`);
  if (row.inherited !== undefined)
    parts.push(`${String(row.inherited.entries)} of ${row.inherited.seedId}`);
  if (row.purgedAt !== undefined) parts.push('purged');
  if (row.purgeLength !== undefined) parts.push(`${String(row.purgeLength)} to remove`);
  return parts.join(', ');
}

function printEntry(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'input':
      return 'input';
    case 'output':
      return `output ${printResult(entry.result)}`;
    case 'command':
      return entry.type;
    case 'notification':
      return `${entry.type} ${notificationKey(entry.id)} ${printNotification(entry.result)}`;
  }
}

function printResult(result: Result): string {
  return result.kind === 'success'
    ? decodeUtf8(result.value)
    : `${String(result.failure.code)} ${result.failure.message}`;
}

function printNotification(result: NotificationResult): string {
  switch (result.kind) {
    case 'void':
      return 'void';
    case 'value':
      return decodeUtf8(result.value);
    case 'failure':
      return `${String(result.failure.code)} ${result.failure.message}`;
    case 'invocation-id':
      return result.id;
    case 'state-keys':
      return `[${result.keys.join(' ')}]`;
  }
}

function printTree(tree: AwaitTree): string {
  if (tree.kind === 'single') return notificationKey(tree.id);
  return `${tree.kind}(${tree.children.map(printTree).join(', ')})`;
}

function printMessage(message: PartitionMessage): string {
  switch (message.kind) {
    case 'invoke':
      return `invoke ${message.request.id}`;
    case 'respond':
      return `respond to ${message.slot.callerId} c${String(message.slot.completionId)} ${printNotification(message.result)}`;
    case 'signal':
      return `signal ${notificationKey(message.id)} to ${message.invocationId}`;
    case 'attach':
      return `attach to ${message.invocationId}`;
    case 'kill':
      return `kill ${message.invocationId}`;
  }
}

function printAnswer(answer: PartitionAnswer): string {
  switch (answer.kind) {
    case 'submitted': {
      const when = answer.executionTime === undefined ? '' : ` for ${String(answer.executionTime)}`;
      return `${answer.isNew ? 'accepted' : 'previously accepted'}${when}`;
    }
    case 'result': {
      const expiry = answer.expiresAt === undefined ? '' : ` until ${String(answer.expiresAt)}`;
      return `${printResult(answer.result)}${expiry}`;
    }
    case 'operation':
      return answer.outcome;
    case 'not-found':
    case 'not-ready':
    case 'unavailable':
      return answer.kind;
  }
}

function printAction(action: Action): string {
  switch (action.kind) {
    case 'StartAttempt':
    case 'AbortAttempt':
      return `  ! ${action.kind} ${action.invocationId} #${String(action.attempt)}`;
    case 'PushNotification':
      return `  ! PushNotification ${action.invocationId} entry ${String(action.index)}`;
    case 'ConfirmCommand':
      return `  ! ConfirmCommand ${action.invocationId} command ${String(action.commandIndex)}`;
    case 'ScheduleTimer':
    case 'CancelTimer': {
      const { kind, invocationId, dueAt } = action.key;
      return `  ! ${action.kind} ${kind} ${invocationId} at ${String(dueAt)}`;
    }
    case 'SendMessage':
      return `  ! SendMessage ${String(action.sequence)} to ${String(action.destination)}: ${printMessage(action.message)}`;
    case 'AcknowledgeMessages':
      return `  ! AcknowledgeMessages of ${String(action.sender)} up to ${String(action.upTo)}`;
    case 'AnswerRequest':
      return `  ! AnswerRequest ${action.requestId}: ${printAnswer(action.answer)}`;
  }
}
