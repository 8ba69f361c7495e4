/**
 * Rows of one table as decisions see them: the newest decided row, whether it is still open, in flight, or durable. One cell
 * holds a row, so a read costs one look-up; cells that are not durable are pinned in the cache.
 */

import type { MutationWriter } from '@engine/wire';

import { RowCache, type CacheLimits } from './row-cache.js';
import type { TableStore } from './table-store.js';

/** Numbers of records, counted from 1 in this process: open > committed. */
export interface RecordNumbers {
  open: number;
  committed: number;
}

interface Cell<Row> {
  row: Row | undefined;
  /** Record in which the row was last written; at or below the committed one the row is durable. */
  record: number;
  /** In how many further pieces the row stands before the open record. */
  pieces: number;
  bytes: number;
}

/** Bytes that a row without payload counts in a record. */
const ROW_BYTES = 160;

export class TableState<Key, Row> {
  readonly #stored: TableStore<Key, Row>;
  readonly #numbers: RecordNumbers;
  readonly #cells: RowCache<Cell<Row>>;
  readonly #openKeys: Key[] = [];
  readonly #openCells: Cell<Row>[] = [];

  constructor(stored: TableStore<Key, Row>, numbers: RecordNumbers, cacheLimits: CacheLimits) {
    this.#stored = stored;
    this.#numbers = numbers;
    this.#cells = new RowCache(cacheLimits, (cell) => cell.record > numbers.committed);
  }

  /** The newest decided row; the same object until it is replaced. */
  get(key: Key): Row | undefined {
    const name = this.#stored.table.keyText(key);
    const cell = this.#cells.get(name);
    return cell === undefined ? this.#load(key, name).row : cell.row;
  }

  /** Makes `row` the newest row, undefined for none. Returns about how many bytes this adds to the open record. */
  set(key: Key, row: Row | undefined): number {
    const { table } = this.#stored;
    const name = table.keyText(key);
    const bytes = row === undefined ? 0 : (table.payloadBytes?.(row) ?? 0);
    let cell = this.#cells.get(name);
    if (cell === undefined) {
      cell = { row, record: this.#numbers.open, pieces: this.#piecesBefore(key, row), bytes };
      this.#cells.add(name, cell);
      this.#pushOpen(key, cell);
    } else {
      if (cell.record !== this.#numbers.open) this.#pushOpen(key, cell);
      cell.row = row;
      cell.record = this.#numbers.open;
      this.#cells.resize(cell, bytes);
    }
    return bytes + ROW_BYTES;
  }

  /** Effects: appends every open row to the record once; nothing is open afterwards. */
  seal(writer: MutationWriter): void {
    const { table } = this.#stored;
    for (let i = 0; i < this.#openKeys.length; i++) {
      const cell = this.#openCells[i] as Cell<Row>;
      cell.pieces = this.#stored.write(this.#openKeys[i] as Key, cell, writer);
    }
    this.#openKeys.length = 0;
    this.#openCells.length = 0;
    if (table.isWriteOnly === true) this.#cells.clear();
  }

  #load(key: Key, name: string): Cell<Row> {
    const { row, pieces } = this.#stored.read(key);
    const bytes = row === undefined ? 0 : (this.#stored.table.payloadBytes?.(row) ?? 0);
    const cell: Cell<Row> = { row, record: 0, pieces, bytes };
    this.#cells.add(name, cell);
    return cell;
  }

  /** Only a row with payload can stand in pieces, and what is only appended is not there before. */
  #piecesBefore(key: Key, row: Row | undefined): number {
    const { table } = this.#stored;
    if (table.payloadBytes === undefined) return 0;
    if (table.isAppendOnly === true && row !== undefined) return 0;
    return this.#stored.readPieces(key);
  }

  #pushOpen(key: Key, cell: Cell<Row>): void {
    this.#openKeys.push(key);
    this.#openCells.push(cell);
  }
}
