/**
 * The database: in memory, one thread, no files, no network, settings locked. Its tables are filled for one statement and
 * emptied after it.
 */

import {
  BLOB,
  BOOLEAN,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBIntervalValue,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  DuckDBBlobValue,
  INTERVAL,
  LIST,
  TIMESTAMPTZ,
  UBIGINT,
  UINTEGER,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBResult,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Cell, Column, ColumnType, Row, TableDefinition } from '../table.js';
import { functionStatements } from './functions.js';
import type { ThreadOptions } from './messages.js';

const TYPES: Readonly<Record<ColumnType, DuckDBType>> = {
  text: VARCHAR,
  boolean: BOOLEAN,
  u32: UINTEGER,
  u64: UBIGINT,
  timestamp: TIMESTAMPTZ,
  duration: INTERVAL,
  bytes: BLOB,
  'u32-list': LIST(UINTEGER),
  'text-list': LIST(VARCHAR),
};

/** Names of the catalog and of the schema, as clients write them. */
const CATALOG = 'engine';
const SCHEMA = 'public';

/** Nothing outside this process can be reached, and no statement can change that. */
const SETTINGS = [
  `SET GLOBAL TimeZone = 'UTC'`,
  'SET integer_division = true',
  `SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'`,
  'SET autoinstall_known_extensions = false',
  'SET autoload_known_extensions = false',
  `SET temp_directory = ''`,
  `SET max_temp_directory_size = '0KB'`,
  `SET disabled_filesystems = 'LocalFileSystem'`,
  'SET enable_external_access = false',
  'SET lock_configuration = true',
];

/** Opens the database with all tables, empty. */
export async function openDatabase(options: ThreadOptions): Promise<Database> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${String(options.memoryBytesMax)}B`,
  });
  const connection = await instance.connect();
  await connection.run(`ATTACH ':memory:' AS ${CATALOG}`);
  await connection.run(`CREATE SCHEMA ${CATALOG}.${SCHEMA}`);
  await connection.run(`USE ${CATALOG}.${SCHEMA}`);
  for (const statement of functionStatements()) await connection.run(statement);
  for (const setting of SETTINGS) await connection.run(setting);
  const database = new Database(connection, options.tables);
  for (const table of options.tables) await database.create(table);
  return database;
}

export class Database {
  /** By lower-case name. */
  readonly tables: ReadonlyMap<string, TableDefinition>;
  readonly #connection: DuckDBConnection;
  readonly #filled = new Set<TableDefinition>();

  constructor(connection: DuckDBConnection, tables: readonly TableDefinition[]) {
    this.#connection = connection;
    this.tables = new Map(tables.map((table) => [table.name, table]));
  }

  /** Parse tree of a text, or what is wrong with it, as `json_serialize_sql` says. Runs nothing. */
  async parse(statement: string): Promise<Readonly<Record<string, unknown>>> {
    const quoted = `'${statement.replaceAll("'", "''")}'`;
    const result = await this.#connection.runAndReadAll(`SELECT json_serialize_sql(${quoted})`);
    return JSON.parse(String(result.getRows()[0]?.[0])) as Readonly<Record<string, unknown>>;
  }

  /** Starts a statement; its rows are made while they are fetched. */
  stream(statement: string): Promise<DuckDBResult> {
    return this.#connection.stream(statement);
  }

  /** Makes what runs now fail. */
  interrupt(): void {
    this.#connection.interrupt();
  }

  /** Adds the rows of `batches` to a table that exists. */
  async fill(name: string, batches: AsyncIterable<readonly Row[]>): Promise<void> {
    const table = this.tables.get(name);
    if (table === undefined) throw new Error(`no table ${name}`);
    this.#filled.add(table);
    const appender = await this.#connection.createAppender(table.name, SCHEMA, CATALOG);
    const types = table.columns.map((column) => TYPES[column.type]);
    const encoders = table.columns.map((column) => cellEncoder(column.type));
    try {
      for await (const rows of batches) {
        const chunk = DuckDBDataChunk.create(types, rows.length);
        encoders.forEach((encode, index) => {
          chunk.setColumnValues(
            index,
            rows.map((row) => encode(row[index])),
          );
        });
        appender.appendDataChunk(chunk);
      }
    } finally {
      appender.closeSync();
    }
  }

  /** Takes the rows out of all tables again and gives their memory back. */
  async emptyFilled(): Promise<void> {
    for (const table of this.#filled) await this.create(table);
    this.#filled.clear();
  }

  /** Makes a table, without rows; replaces the one there is. */
  async create(table: TableDefinition): Promise<void> {
    const columns = table.columns.map(columnSql).join(', ');
    await this.#connection.run(
      `CREATE OR REPLACE TABLE ${CATALOG}.${SCHEMA}.${table.name} (${columns})`,
    );
  }
}

function columnSql(column: Column): string {
  return `"${column.name}" ${TYPES[column.type].toString()}`;
}

function cellEncoder(type: ColumnType): (cell: Cell) => DuckDBValue {
  const encode = presentCellEncoder(type);
  return (cell) => (cell === undefined ? null : encode(cell));
}

function presentCellEncoder(type: ColumnType): (cell: Exclude<Cell, undefined>) => DuckDBValue {
  switch (type) {
    case 'text':
    case 'boolean':
    case 'u32':
      return (cell) => cell as string | boolean | number;
    case 'u64':
      return (cell) => BigInt(cell as number | bigint);
    case 'timestamp':
      return (cell) => new DuckDBTimestampTZValue(microsOf(cell));
    case 'duration':
      return (cell) => new DuckDBIntervalValue(0, 0, microsOf(cell));
    case 'bytes':
      return (cell) => new DuckDBBlobValue(cell as Uint8Array);
    case 'u32-list':
    case 'text-list':
      return (cell) => new DuckDBListValue(cell as readonly (number | string)[]);
  }
}

/** Last second of the year 9999. Handlers may ask for times that no date has, and one of those must not take the whole answer with it. */
const SHOWN_MS_MAX = 253_402_300_799_000;

function microsOf(cell: Exclude<Cell, undefined>): bigint {
  return BigInt(Math.round(Math.min(Number(cell), SHOWN_MS_MAX) * 1_000));
}
