/** What a table is made of: how its keys and rows look in bytes. One file per table beside this one. */

import type { RowCodec } from '@engine/wire';

import type { KeyReader } from '../keys/key-reader.js';
import type { KeyWriter } from '../keys/key-writer.js';

export interface Table<Key, Row> {
  /** Number in the registry of prefixes. */
  readonly number: number;
  /** Text of a key, different for different keys of the table; names the row in memory. */
  keyText(key: Key): string;
  /** Appends the key's parts. */
  writeKey(key: Key, writer: KeyWriter): void;
  readKey(reader: KeyReader): Key;
  readonly row: RowCodec<Row>;
  /** Set for tables with payloads: about how many bytes a row takes. Such rows may be stored in several pieces. */
  readonly payloadBytes?: (row: Row) => number;
  /** How the payload of a large row is taken out before it is encoded, and put back; required with `payloadBytes`. */
  readonly payload?: PayloadAccess<Row>;
  /** True when a put never meets a row that is already there. */
  readonly isAppendOnly?: boolean;
  /** True when decisions never read the table, so that nothing of it is worth keeping in memory. */
  readonly isWriteOnly?: boolean;
}

export interface PayloadAccess<Row> {
  /** The row without its payload, and the payload; undefined for a row that has none. */
  take(row: Row): { readonly head: Row; readonly payload: Uint8Array } | undefined;
  /** The row that `take` was given. */
  put(head: Row, payload: Uint8Array): Row;
}
