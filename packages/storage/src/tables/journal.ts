import type { InvocationId, JournalEntry, NotificationResult, Result } from '@engine/domain';
import { journalRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import type { Table } from './table.js';

export interface JournalKey {
  readonly id: InvocationId;
  readonly index: number;
}

/** Journal entries in their order. They are written once and deleted once. */
export const journalTable: Table<JournalKey, JournalEntry> = {
  number: TABLES.journal,
  keyText: (key) => `${key.id}${String(key.index)}`,
  writeKey: (key, writer) => writer.invocationId(key.id).u32(key.index),
  readKey: (reader) => ({ id: reader.invocationId(), index: reader.u32() }),
  row: journalRow,
  payloadBytes: entryBytes,
  isAppendOnly: true,
};

/** Rough and cheap; at least the payload. */
function entryBytes(entry: JournalEntry): number {
  switch (entry.kind) {
    case 'input':
      return entry.payload.length + headerBytes(entry.headers);
    case 'output':
      return resultBytes(entry.result);
    case 'command':
      return entry.raw.length + entry.name.length;
    case 'notification':
      return resultBytes(entry.result);
  }
}

function headerBytes(headers: readonly { readonly key: string; readonly value: string }[]): number {
  let bytes = 0;
  for (const { key, value } of headers) bytes += key.length + value.length;
  return bytes;
}

/** Also used for messages, which carry results. */
export function resultBytes(result: Result | NotificationResult): number {
  switch (result.kind) {
    case 'success':
    case 'value':
      return result.value.length;
    case 'failure':
      return result.failure.message.length;
    case 'state-keys':
      return result.keys.reduce((bytes, key) => bytes + key.length, 0);
    case 'void':
    case 'invocation-id':
      return 0;
  }
}
