/** One query from its text to the last byte of its JSON answer, `{"rows":[…]}`. */

import type { DuckDBResult } from '@duckdb/node-api';
import { ANSWER_CHUNK_BYTES } from '../limits.js';
import type { Database } from './database.js';
import { adaptDialect } from './dialect.js';
import { encoderFor, type JsonEncoder } from './json-value.js';
import type { QueryChannel } from './query-channel.js';
import { QueryFailure } from './query-failure.js';
import { scansOf } from './statement.js';

/** Runs a statement and hands its answer out. The tables it filled stay filled. Throws QueryFailure. */
export async function runQuery(
  database: Database,
  channel: QueryChannel,
  statement: string,
): Promise<void> {
  try {
    const tree = await database.parse(statement);
    for (const scan of scansOf(tree, database.tables)) {
      await database.fill(scan.table, channel.rows(scan));
    }
    channel.checkStopped();
    await sendRows(await database.stream(adaptDialect(statement, tree)), channel);
  } catch (error) {
    throw asFailure(error);
  }
}

async function sendRows(result: DuckDBResult, channel: QueryChannel): Promise<void> {
  const columns = columnsOf(result);
  const encoder = new TextEncoder();
  let text = '{"rows":[';
  let separator = '';
  for await (const chunk of result) {
    for (const row of chunk.getRows()) {
      text += separator + rowText(columns, row);
      separator = ',';
    }
    if (text.length < ANSWER_CHUNK_BYTES) continue;
    await channel.give(encoder.encode(text));
    text = '';
  }
  await channel.give(encoder.encode(`${text}]}`));
}

interface ResultColumn {
  /** Name as the start of a JSON member, `"name":`. */
  readonly member: string;
  readonly encode: JsonEncoder;
}

function columnsOf(result: DuckDBResult): ResultColumn[] {
  const names = result.columnNames().map((name) => (name === 'count_star()' ? 'count(*)' : name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new QueryFailure('statement', `two columns are named '${twice}'; give one an alias`);
  }
  const types = result.columnTypes();
  return names.map((name, index) => {
    const type = types[index];
    if (type === undefined) throw new QueryFailure('failed', `column '${name}' has no type`);
    return { member: `${JSON.stringify(name)}:`, encode: encoderFor(type) };
  });
}

/** A row as a JSON object; nulls are left out. */
function rowText(columns: readonly ResultColumn[], row: ReturnType<RowsOfChunk>[number]): string {
  let text = '';
  columns.forEach((column, index) => {
    const value = row[index] ?? null;
    if (value === null) return;
    text += (text === '' ? '' : ',') + column.member + column.encode(value);
  });
  return `{${text}}`;
}

type RowsOfChunk = NonNullable<Awaited<ReturnType<DuckDBResult['fetchChunk']>>>['getRows'];

/** DuckDB's first line says what is wrong; the others quote the statement. */
function asFailure(error: unknown): QueryFailure {
  if (error instanceof QueryFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const [firstLine = message] = message.split('\n');
  return new QueryFailure(message.startsWith('Parser Error') ? 'statement' : 'failed', firstLine);
}
