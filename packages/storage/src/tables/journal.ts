import type { InvocationId, JournalEntry } from '@engine/domain';
import { EMPTY_BYTES } from '@engine/stdx';
import { journalRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { resultBytes, valueOf, withValue } from './payload.js';
import type { PayloadAccess, Table } from './table.js';

export interface JournalKey {
  readonly id: InvocationId;
  readonly index: number;
}

const entryPayload: PayloadAccess<JournalEntry> = {
  take: (entry) => {
    switch (entry.kind) {
      case 'input':
        return { head: { ...entry, payload: EMPTY_BYTES }, payload: entry.payload };
      case 'command':
        return { head: { ...entry, raw: EMPTY_BYTES }, payload: entry.raw };
      case 'output': {
        const value = valueOf(entry.result);
        const result = withValue(entry.result);
        return value === undefined ? undefined : { head: { ...entry, result }, payload: value };
      }
      case 'notification': {
        const value = valueOf(entry.result);
        const result = withValue(entry.result);
        return value === undefined ? undefined : { head: { ...entry, result }, payload: value };
      }
    }
  },
  put: (head, payload) => {
    switch (head.kind) {
      case 'input':
        return { ...head, payload };
      case 'command':
        return { ...head, raw: payload };
      case 'output':
        return { ...head, result: withValue(head.result, payload) };
      case 'notification':
        return { ...head, result: withValue(head.result, payload) };
    }
  },
};

/** Journal entries in their order. They are written once and deleted once. */
export const journalTable: Table<JournalKey, JournalEntry> = {
  number: TABLES.journal,
  keyText: (key) => `${key.id}${String(key.index)}`,
  writeKey: (key, writer) => writer.invocationId(key.id).u32(key.index),
  readKey: (reader) => ({ id: reader.invocationId(), index: reader.u32() }),
  row: journalRow,
  payloadBytes: entryBytes,
  payload: entryPayload,
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
