/** Table `sys_journal`: one row per journal entry. */

import { partitionKeyOf, type JournalEntry, type SchemaLookup } from '@engine/domain';
import {
  commandTypeName,
  notificationTypeName,
  PROTOCOL_VERSION_MAX,
  replayFrame,
} from '@engine/service-protocol';
import { concatBytes } from '@engine/stdx';
import type { JournalSnapshot } from '@engine/wire';
import { ENTRY_JSON_BYTES_MAX } from '../limits.js';
import { defineColumns, type Row, type TableDefinition } from '../table.js';
import { entryJson, entryLiteJson } from './entry-json.js';

export const SYS_JOURNAL: TableDefinition = {
  name: 'sys_journal',
  keyColumns: ['id'],
  columns: defineColumns(
    ['partition_key', 'u64'],
    ['id', 'text'],
    ['index', 'u32'],
    ['entry_type', 'text'],
    ['name', 'text'],
    ['completed', 'boolean'],
    ['invoked_id', 'text'],
    ['invoked_target', 'text'],
    ['sleep_wakeup_at', 'timestamp'],
    ['promise_name', 'text'],
    ['raw', 'bytes'],
    ['raw_length', 'u64'],
    ['version', 'u32'],
    ['entry_json', 'text'],
    ['entry_lite_json', 'text'],
    ['appended_at', 'timestamp'],
  ),
};

/** All journals are kept in the layout of protocol 4 and later; the columns of the one before stay empty. */
const JOURNAL_VERSION = 2;

/** The row of a journal entry; bytes and JSON only where one of `columns` shows them. */
export function journalRow(
  { id, index, entry }: JournalSnapshot,
  columns: ReadonlySet<string>,
  schema: SchemaLookup,
): Row {
  const isWanted = (...names: readonly string[]): boolean =>
    names.some((name) => columns.has(name));
  const raw = isWanted('raw', 'raw_length', 'entry_json') ? rawBytes(entry) : undefined;
  const isShort = raw !== undefined && raw.length <= ENTRY_JSON_BYTES_MAX;
  return [
    partitionKeyOf(id),
    id,
    index,
    entryTypeText(entry),
    entryName(entry),
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    columns.has('raw') ? raw : undefined,
    raw?.length,
    JOURNAL_VERSION,
    isShort && columns.has('entry_json') ? entryJson(entry, schema) : undefined,
    columns.has('entry_lite_json') ? entryLiteJson(entry, schema) : undefined,
    entry.appendedAt,
  ];
}

/** The message as it is replayed by the newest protocol, without its frame header. */
function rawBytes(entry: JournalEntry): Uint8Array {
  const { payload, rest } = replayFrame(entry, PROTOCOL_VERSION_MAX);
  return rest === undefined ? payload : concatBytes([payload, ...rest]);
}

function entryTypeText(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'input':
      return 'Command: Input';
    case 'output':
      return 'Command: Output';
    case 'command':
      return `Command: ${commandTypeName(entry.type)}`;
    case 'notification':
      return `Notification: ${notificationTypeName(entry.type)}`;
  }
}

/** What the handler called the command; '' when it did not. */
function entryName(entry: JournalEntry): string | undefined {
  switch (entry.kind) {
    case 'input':
      return '';
    case 'output':
    case 'command':
      return entry.name;
    case 'notification':
      return undefined;
  }
}
