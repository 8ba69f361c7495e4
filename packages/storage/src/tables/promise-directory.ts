import type { PromiseDirectory } from '@engine/domain';
import { promiseDirectoryRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { objectKeyText, type ObjectKey } from './object-lock.js';
import type { Table } from './table.js';

/** Which promises a workflow id has. */
export const promiseDirectoryTable: Table<ObjectKey, PromiseDirectory> = {
  number: TABLES['promise-directory'],
  keyText: objectKeyText,
  writeKey: (key, writer) => writer.text(key.service).text(key.key),
  readKey: (reader) => ({ service: reader.text(), key: reader.text() }),
  row: promiseDirectoryRow,
};
