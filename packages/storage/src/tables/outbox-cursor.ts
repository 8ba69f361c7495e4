import { toPartitionId, type OutboxCursor, type PartitionId } from '@engine/domain';
import { outboxCursorRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import type { Table } from './table.js';

export interface DestinationKey {
  readonly destination: PartitionId;
}

/** Numbering of the messages to each destination. */
export const outboxCursorTable: Table<DestinationKey, OutboxCursor> = {
  number: TABLES['outbox-cursor'],
  keyText: (key) => String(key.destination),
  writeKey: (key, writer) => writer.u16(key.destination),
  readKey: (reader) => ({ destination: toPartitionId(reader.u16()) }),
  row: outboxCursorRow,
};
