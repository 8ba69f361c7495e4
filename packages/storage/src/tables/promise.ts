import type { DurablePromise } from '@engine/domain';
import { promiseRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { objectKeyText, type ObjectKey } from './object-lock.js';
import { resultBytes, valueOf, withValue } from './payload.js';
import type { Table } from './table.js';

export interface PromiseKey extends ObjectKey {
  readonly name: string;
}

/** Durable promises of workflows. */
export const promiseTable: Table<PromiseKey, DurablePromise> = {
  number: TABLES.promise,
  keyText: (key) => `${String(key.name.length)}:${key.name}${objectKeyText(key)}`,
  writeKey: (key, writer) => writer.text(key.service).text(key.key).text(key.name),
  readKey: (reader) => ({ service: reader.text(), key: reader.text(), name: reader.text() }),
  row: promiseRow,
  payloadBytes: (row) => (row.kind === 'completed' ? resultBytes(row.result) : 0),
  payload: {
    take: (row) => {
      const value = row.kind === 'completed' ? valueOf(row.result) : undefined;
      if (row.kind !== 'completed' || value === undefined) return undefined;
      return { head: { ...row, result: withValue(row.result) }, payload: value };
    },
    put: (head, payload) =>
      head.kind === 'completed' ? { ...head, result: withValue(head.result, payload) } : head,
  },
};
