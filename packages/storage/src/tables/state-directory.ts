import type { StateDirectory } from '@engine/domain';
import { stateDirectoryRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { objectKeyText, type ObjectKey } from './object-lock.js';
import type { Table } from './table.js';

/** Which state keys an object key has. */
export const stateDirectoryTable: Table<ObjectKey, StateDirectory> = {
  number: TABLES['state-directory'],
  keyText: objectKeyText,
  writeKey: (key, writer) => writer.text(key.service).text(key.key),
  readKey: (reader) => ({ service: reader.text(), key: reader.text() }),
  row: stateDirectoryRow,
};
