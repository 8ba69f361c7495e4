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
  /** Text columns whose equality and IN filters are handed down to the scan. */
  readonly keyColumns: readonly string[];
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
  /** By key column: only rows with one of these texts in it are needed. A column that is not here: all rows. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  /** Names of the columns that are read; cells of the others may be left undefined. */
  readonly columns: ReadonlySet<string>;
}

/** Gives the rows of the tables. Lives on the main thread, beside the data. */
export interface TableProvider {
  readonly tables: readonly TableDefinition[];

  /**
   * Rows of a table in any order, in batches as large as one message to the thread may be. May give more rows than `keys` asks for.
   * Errors: an EngineError ends the query with its message (`bad-request`: the caller's fault, else ours).
   */
  scan(request: ScanRequest, signal: AbortSignal): AsyncIterable<readonly Row[]>;
}

/** Makes a column list out of `name type` lines. */
export function defineColumns(...columns: readonly (readonly [string, ColumnType])[]): Column[] {
  return columns.map(([name, type]) => ({ name, type }));
}
