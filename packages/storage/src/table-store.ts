/** Rows of one table in their stored form: keys and values to bytes and back, large rows in pieces. */

import { EngineError, limits } from '@engine/domain';
import { EMPTY_BYTES } from '@engine/stdx';
import { encodeRow, type MutationWriter } from '@engine/wire';

import { cutRow, furtherPieces, joinRow } from './chunks.js';
import { KeyReader } from './keys/key-reader.js';
import type { KeyWriter } from './keys/key-writer.js';
import type { KvEntry, KvReader } from './kv-store.js';
import { PARTITION_PREFIX_BYTES, TABLES } from './prefixes.js';
import type { Table } from './tables/table.js';

/** Room for the fields around a payload; below one piece less this a row is encoded in place. */
const ROW_OVERHEAD_BYTES = 4_096;
const CUT_BYTES_MIN = limits.STORED_CHUNK_BYTES_MAX - ROW_OVERHEAD_BYTES;

/** A row as stored, and in how many further pieces. */
export interface StoredRow<Row> {
  readonly row: Row | undefined;
  readonly pieces: number;
}

const NOTHING: StoredRow<never> = { row: undefined, pieces: 0 };

export class TableStore<Key, Row> {
  readonly table: Table<Key, Row>;
  readonly #store: KvReader;
  readonly #keys: KeyWriter;

  constructor(table: Table<Key, Row>, store: KvReader, keys: KeyWriter) {
    this.table = table;
    this.#store = store;
    this.#keys = keys;
  }

  /** The stored row. Cost: one point read, more for large rows. */
  read(key: Key): StoredRow<Row> {
    const first = this.#store.get(this.#rowKey(key).full());
    if (first === undefined) return NOTHING;
    return { row: this.#decode(key, first), pieces: furtherPieces(first) };
  }

  /** In how many further pieces the stored row stands; 0 when there is none. */
  readPieces(key: Key): number {
    const first = this.#store.get(this.#rowKey(key).full());
    return first === undefined ? 0 : furtherPieces(first);
  }

  /** Key and row of an entry that a scan found. */
  decodeEntry({ key, value }: KvEntry): { readonly key: Key; readonly row: Row } {
    const read = this.table.readKey(new KeyReader(key, PARTITION_PREFIX_BYTES + 1));
    return { key: read, row: this.#decode(read, value) };
  }

  /**
   * Appends what makes `row` the stored row to a record; undefined deletes it. `pieces` says in how many further pieces the
   * row stands before. Returns in how many it will stand.
   */
  write(key: Key, { row, pieces }: StoredRow<Row>, writer: MutationWriter): number {
    if (row === undefined) writer.del(this.#rowKey(key).relative());
    const written = row === undefined ? 0 : this.#put(key, row, writer);
    for (let number = written + 1; number <= pieces; number++) {
      writer.del(this.#pieceKey(key, number).relative());
    }
    return written;
  }

  #put(key: Key, row: Row, writer: MutationWriter): number {
    const { payloadBytes, row: codec } = this.table;
    if (payloadBytes === undefined || payloadBytes(row) < CUT_BYTES_MIN) {
      writer.putRow(this.#rowKey(key).relative(), row, codec);
      return 0;
    }
    const taken = this.table.payload?.take(row);
    const head = encodeRow(codec, taken?.head ?? row);
    const [first, ...others] = cutRow(head, taken?.payload ?? EMPTY_BYTES);
    writer.put(this.#rowKey(key).relative(), first);
    others.forEach((piece, index) => {
      writer.put(this.#pieceKey(key, index + 1).relative(), piece);
    });
    return others.length;
  }

  #decode(key: Key, first: Uint8Array): Row {
    const read = (number: number): Uint8Array | undefined =>
      this.#store.get(this.#pieceKey(key, number).full());
    const { head, payload } = joinRow(first, read);
    const row = this.table.row.read(head);
    if (payload === undefined || payload.length === 0) return row;
    if (this.table.payload === undefined) {
      throw new EngineError('storage', 'a row of this table has no payload');
    }
    return this.table.payload.put(row, payload);
  }

  #rowKey(key: Key): KeyWriter {
    this.table.writeKey(key, this.#keys.begin(this.table.number));
    return this.#keys;
  }

  #pieceKey(key: Key, number: number): KeyWriter {
    this.table.writeKey(key, this.#keys.begin(TABLES.chunk).u8(this.table.number));
    return this.#keys.u32(number);
  }
}
