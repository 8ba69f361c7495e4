import { toPartitionId, type PartitionId, type PartitionMessage } from '@engine/domain';
import { outboxRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { resultBytes } from './journal.js';
import type { Table } from './table.js';

export interface OutboxKey {
  readonly destination: PartitionId;
  readonly sequence: number;
}

/** Messages to other partitions until they are acknowledged. */
export const outboxTable: Table<OutboxKey, PartitionMessage> = {
  number: TABLES.outbox,
  keyText: (key) => `${String(key.destination)}/${String(key.sequence)}`,
  writeKey: (key, writer) => writer.u16(key.destination).number(key.sequence),
  readKey: (reader) => ({ destination: toPartitionId(reader.u16()), sequence: reader.number() }),
  row: outboxRow,
  payloadBytes: messageBytes,
  isAppendOnly: true,
};

function messageBytes(message: PartitionMessage): number {
  switch (message.kind) {
    case 'invoke':
      return message.request.payload.length;
    case 'respond':
    case 'signal':
      return resultBytes(message.result);
    case 'attach':
    case 'kill':
      return 0;
  }
}
