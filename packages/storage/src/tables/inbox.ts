import type { InboxEntry } from '@engine/domain';
import { inboxRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { objectKeyText, type ObjectKey } from './object-lock.js';
import type { Table } from './table.js';

export interface InboxKey extends ObjectKey {
  readonly sequence: number;
}

/** What waits for an object key, in its order. A place is written once and deleted once before its number returns. */
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
  payloadBytes: entryBytes,
  // A state has many values, so none of them is taken out: a large one is cut after it is encoded.
  payload: { take: () => undefined, put: (head) => head },
  isAppendOnly: true,
};

/** About how many bytes an entry takes; at least its values. */
function entryBytes(entry: InboxEntry): number {
  if (entry.kind === 'invocation') return 0;
  let bytes = 0;
  for (const { key, value } of entry.replacement.entries) bytes += key.length + value.length + 8;
  return bytes;
}
