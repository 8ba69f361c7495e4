import { EMPTY_BYTES } from '@engine/stdx';
import { stateRow } from '@engine/wire';

import { TABLES } from '../prefixes.js';
import { objectKeyText, type ObjectKey } from './object-lock.js';
import type { Table } from './table.js';

export interface StateKey extends ObjectKey {
  readonly stateKey: string;
}

/** Values of the keyed state. */
export const stateTable: Table<StateKey, Uint8Array> = {
  number: TABLES.state,
  keyText: (key) => `${String(key.stateKey.length)}:${key.stateKey}${objectKeyText(key)}`,
  writeKey: (key, writer) => writer.text(key.service).text(key.key).text(key.stateKey),
  readKey: (reader) => ({ service: reader.text(), key: reader.text(), stateKey: reader.text() }),
  row: stateRow,
  payloadBytes: (value) => value.length,
  payload: {
    take: (value) => ({ head: EMPTY_BYTES, payload: value }),
    put: (_, payload) => payload,
  },
};
