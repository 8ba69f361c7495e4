import type { InboxEntry } from '@engine/domain';
import { inboxRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { objectKeyText, type ObjectKey } from './object-lock.js';
import type { Table } from './table.js';

export interface InboxKey extends ObjectKey {
  readonly sequence: number;
}

/** Invocations that wait for an object key, in their order. */
export const inboxTable: Table<InboxKey, InboxEntry> = {
  number: TABLES.inbox,
  keyText: (key) => `${String(key.sequence)}/${objectKeyText(key)}`,
  writeKey: (key, writer) => writer.text(key.service).text(key.key).number(key.sequence),
  readKey: (reader) => ({
    service: reader.text(),
    key: reader.text(),
    sequence: reader.number(),
  }),
  row: inboxRow,
};
