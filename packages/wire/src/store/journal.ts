import type { CommandType, InvocationId, JournalEntry } from '@engine/domain';

import { enumCodec, missing, rowCodec, type RowCodec } from '../codec.js';
import * as gen from '../gen/engine/store/v1/journal.js';
import {
  notificationIdFromWire,
  notificationIdToWire,
  notificationResultFromWire,
  notificationResultToWire,
  notificationTypes,
} from './notification.js';
import { pairsToWire, resultFromWire, resultToWire } from './result.js';

const T = gen.CommandType;

const commandTypes = enumCodec<CommandType, gen.CommandType>('command type', {
  'get-lazy-state': T.COMMAND_TYPE_GET_LAZY_STATE,
  'set-state': T.COMMAND_TYPE_SET_STATE,
  'clear-state': T.COMMAND_TYPE_CLEAR_STATE,
  'clear-all-state': T.COMMAND_TYPE_CLEAR_ALL_STATE,
  'get-lazy-state-keys': T.COMMAND_TYPE_GET_LAZY_STATE_KEYS,
  'get-eager-state': T.COMMAND_TYPE_GET_EAGER_STATE,
  'get-eager-state-keys': T.COMMAND_TYPE_GET_EAGER_STATE_KEYS,
  'get-promise': T.COMMAND_TYPE_GET_PROMISE,
  'peek-promise': T.COMMAND_TYPE_PEEK_PROMISE,
  'complete-promise': T.COMMAND_TYPE_COMPLETE_PROMISE,
  sleep: T.COMMAND_TYPE_SLEEP,
  call: T.COMMAND_TYPE_CALL,
  'one-way-call': T.COMMAND_TYPE_ONE_WAY_CALL,
  'send-signal': T.COMMAND_TYPE_SEND_SIGNAL,
  run: T.COMMAND_TYPE_RUN,
  'attach-invocation': T.COMMAND_TYPE_ATTACH_INVOCATION,
  'get-invocation-output': T.COMMAND_TYPE_GET_INVOCATION_OUTPUT,
  'complete-awakeable': T.COMMAND_TYPE_COMPLETE_AWAKEABLE,
});

function entryToWire(row: JournalEntry): gen.JournalEntry['entry'] {
  switch (row.kind) {
    case 'input':
      return {
        $case: 'input',
        value: { headers: pairsToWire(row.headers), payload: row.payload },
      };
    case 'output':
      return { $case: 'output', value: { name: row.name, result: resultToWire(row.result) } };
    case 'command':
      return {
        $case: 'command',
        value: {
          type: commandTypes.toWire[row.type],
          name: row.name,
          raw: row.raw,
          callee: row.callee,
          completionId: row.completionId,
          invocationIdCompletionId: row.invocationIdCompletionId,
        },
      };
    case 'notification':
      return {
        $case: 'notification',
        value: {
          type: notificationTypes.toWire[row.type],
          id: notificationIdToWire(row.id),
          result: notificationResultToWire(row.result),
        },
      };
  }
}

export function journalEntryToWire(row: JournalEntry): gen.JournalEntry {
  return { appendedAt: row.appendedAt, entry: entryToWire(row) };
}

export function journalEntryFromWire({ entry, appendedAt }: gen.JournalEntry): JournalEntry {
  switch (entry?.$case) {
    case 'input':
      return {
        kind: 'input',
        headers: entry.value.headers,
        payload: entry.value.payload,
        appendedAt,
      };
    case 'output':
      return {
        kind: 'output',
        name: entry.value.name,
        result: resultFromWire(entry.value.result),
        appendedAt,
      };
    case 'command':
      return {
        kind: 'command',
        type: commandTypes.fromWire(entry.value.type),
        name: entry.value.name,
        raw: entry.value.raw,
        callee: entry.value.callee as InvocationId | undefined,
        completionId: entry.value.completionId,
        invocationIdCompletionId: entry.value.invocationIdCompletionId,
        appendedAt,
      };
    case 'notification':
      return {
        kind: 'notification',
        type: notificationTypes.fromWire(entry.value.type),
        id: notificationIdFromWire(entry.value.id),
        result: notificationResultFromWire(entry.value.result),
        appendedAt,
      };
    case undefined:
      return missing('journal entry');
  }
}

export const journalRow: RowCodec<JournalEntry> = rowCodec('journal', gen.JournalEntry, {
  toWire: journalEntryToWire,
  fromWire: journalEntryFromWire,
});
