import {
  notificationKey,
  type InvocationId,
  type NotificationId,
  type NotificationIndexEntry,
} from '@engine/domain';
import { notificationIndexRow } from '@engine/wire';

import type { KeyReader } from '../keys/key-reader.js';
import type { KeyWriter } from '../keys/key-writer.js';
import { TABLES } from '../prefixes.js';
import type { Table } from './table.js';

export interface NotificationKey {
  readonly id: InvocationId;
  readonly notification: NotificationId;
}

const COMPLETION = 1;
const SIGNAL = 2;
const NAMED_SIGNAL = 3;

/** Where the notification of an id stands in the journal. */
export const notificationTable: Table<NotificationKey, NotificationIndexEntry> = {
  number: TABLES.notification,
  keyText: (key) => `${key.id}${notificationKey(key.notification)}`,
  writeKey: (key, writer) => {
    writeNotification(key.notification, writer.invocationId(key.id));
  },
  readKey: (reader) => ({ id: reader.invocationId(), notification: readNotification(reader) }),
  row: notificationIndexRow,
};

function writeNotification(id: NotificationId, writer: KeyWriter): void {
  switch (id.kind) {
    case 'completion':
      writer.u8(COMPLETION).u32(id.id);
      return;
    case 'signal':
      writer.u8(SIGNAL).u32(id.index);
      return;
    case 'named-signal':
      writer.u8(NAMED_SIGNAL).text(id.name);
      return;
  }
}

function readNotification(reader: KeyReader): NotificationId {
  switch (reader.u8()) {
    case COMPLETION:
      return { kind: 'completion', id: reader.u32() };
    case SIGNAL:
      return { kind: 'signal', index: reader.u32() };
    default:
      return { kind: 'named-signal', name: reader.text() };
  }
}
