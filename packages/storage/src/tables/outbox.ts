import { toPartitionId, type PartitionId, type PartitionMessage } from '@engine/domain';
import { EMPTY_BYTES } from '@engine/stdx';
import { outboxRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { resultBytes, valueOf, withValue } from './payload.js';
import type { PayloadAccess, Table } from './table.js';

export interface OutboxKey {
  readonly destination: PartitionId;
  readonly sequence: number;
}

const messagePayload: PayloadAccess<PartitionMessage> = {
  take: (message) => {
    switch (message.kind) {
      case 'invoke': {
        const { request } = message;
        const head = { ...message, request: { ...request, payload: EMPTY_BYTES } };
        return { head, payload: request.payload };
      }
      case 'respond':
      case 'signal': {
        const value = valueOf(message.result);
        if (value === undefined) return undefined;
        return { head: { ...message, result: withValue(message.result) }, payload: value };
      }
      case 'attach':
      case 'kill':
        return undefined;
    }
  },
  put: (head, payload) => {
    switch (head.kind) {
      case 'invoke':
        return { ...head, request: { ...head.request, payload } };
      case 'respond':
      case 'signal':
        return { ...head, result: withValue(head.result, payload) };
      case 'attach':
      case 'kill':
        return head;
    }
  },
};

/** Messages to other partitions until they are acknowledged. */
export const outboxTable: Table<OutboxKey, PartitionMessage> = {
  number: TABLES.outbox,
  keyText: (key) => `${String(key.destination)}/${String(key.sequence)}`,
  writeKey: (key, writer) => writer.u16(key.destination).number(key.sequence),
  readKey: (reader) => ({ destination: toPartitionId(reader.u16()), sequence: reader.number() }),
  row: outboxRow,
  payloadBytes: messageBytes,
  payload: messagePayload,
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
