/** Tables as SQL sees them, and where their rows come from. */

/**
 * Types of columns. `timestamp`: ms since the epoch, shown as UTC. `duration`: ms. `u64` takes numbers and bigints.
 * All columns are nullable; `undefined` is null.
 */
export type ColumnType =
  | 'text'
  | 'boolean'
  | 'u32'
  | 'u64'
  | 'timestamp'
  | 'duration'
  | 'bytes'
  | 'u32-list'
  | 'text-list';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

export interface TableDefinition {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Column whose equality and IN filters are handed down to the scan. */
  readonly keyColumn: string | undefined;
}

export type Cell =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | readonly number[]
  | readonly string[]
  | undefined;

/** One row: cells in the order of the columns. */
export type Row = readonly Cell[];

/** What a statement reads of one table. */
export interface ScanRequest {
  readonly table: string;
  /** Only rows with one of these keys are needed; undefined = all rows. */
  readonly keys: readonly string[] | undefined;
}

/** Gives the rows of the tables. Lives on the main thread, beside the data. */
export interface TableProvider {
  readonly tables: readonly TableDefinition[];

  /**
   * Rows of a table in any order, in batches of any size. May give more rows than `keys` asks for.
   * Errors: an EngineError ends the query with its message (`bad-request`: the caller's fault, else ours).
   */
  scan(request: ScanRequest, signal: AbortSignal): AsyncIterable<readonly Row[]>;
}

/** Makes a column list out of `name type` lines. */
export function defineColumns(...columns: readonly (readonly [string, ColumnType])[]): Column[] {
  return columns.map(([name, type]) => ({ name, type }));
}
