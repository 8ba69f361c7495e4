import { toPartitionId, type PartitionId } from '@engine/domain';
import { inboundRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import type { Table } from './table.js';

export interface SenderKey {
  readonly sender: PartitionId;
}

/** Highest message sequence applied from each sender. */
export const inboundTable: Table<SenderKey, number> = {
  number: TABLES.inbound,
  keyText: (key) => String(key.sender),
  writeKey: (key, writer) => writer.u16(key.sender),
  readKey: (reader) => ({ sender: toPartitionId(reader.u16()) }),
  row: inboundRow,
};
