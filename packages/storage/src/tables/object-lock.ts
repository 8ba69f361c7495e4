import type { ObjectLock } from '@engine/domain';
import { objectLockRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import type { Table } from './table.js';

/** One key of a virtual object or workflow. */
export interface ObjectKey {
  readonly service: string;
  readonly key: string;
}

/** Text of an object key: the length keeps service and key apart. */
export function objectKeyText({ service, key }: ObjectKey): string {
  return `${String(service.length)}:${service}${key}`;
}

/** The lock of an object key and the ends of its inbox, while it is held. */
export const objectLockTable: Table<ObjectKey, ObjectLock> = {
  number: TABLES['object-lock'],
  keyText: objectKeyText,
  writeKey: (key, writer) => writer.text(key.service).text(key.key),
  readKey: (reader) => ({ service: reader.text(), key: reader.text() }),
  row: objectLockRow,
};
