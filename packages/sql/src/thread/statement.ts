/**
 * What a statement reads, told from the parse tree that DuckDB gives (`json_serialize_sql`). A statement is accepted only if
 * it is one SELECT over tables and harmless table functions.
 *
 * The keys found for a table are a superset of the rows that can matter: a conjunct of WHERE on a key column of a base
 * relation refuses every other row, also those that an outer join would fill with nulls. The columns found are a superset of
 * those that can matter, too.
 */

import { SCAN_IDS_MAX } from '../limits.js';
import type { ScanRequest, TableDefinition } from '../table.js';
import { QueryFailure } from './query-failure.js';
import { readColumns } from './read-columns.js';
import { asNode, hasItems, lower, nodesOf, text, textsOf, walk, type Node } from './tree.js';

/** Texts that a column must have, by key column. */
type Keys = ReadonlyMap<string, ReadonlySet<string>>;

const ANY_KEY: Keys = new Map();

/** Table functions that only compute. */
const TABLE_FUNCTIONS = new Set([
  'generate_series',
  'range',
  'unnest',
  'json_each',
  'json_tree',
  'regexp_split_to_table',
]);

/**
 * The scans that a statement needs, one per table that it names.
 *
 * @param tree answer of `json_serialize_sql`
 * @param tables the tables that exist, by lower-case name
 * Throws QueryFailure for anything but one SELECT.
 */
export function scansOf(tree: Node, tables: ReadonlyMap<string, TableDefinition>): ScanRequest[] {
  const statement = onlyStatement(tree);
  const scans = new Map<TableDefinition, Keys>();
  const keysOfRelation = new Map<Node, Keys>();
  walk(statement, (node) => {
    if (node['type'] === 'SELECT_NODE') findKeys(node, tables, keysOfRelation);
    if (node['type'] === 'TABLE_FUNCTION') checkTableFunction(node);
    if (node['type'] === 'BASE_TABLE') {
      const table = tables.get(lower(node['table_name']));
      if (table !== undefined) addScan(scans, table, keysOfRelation.get(node) ?? ANY_KEY);
    }
  });
  const isRead = readColumns(statement);
  return [...scans].map(([table, keys]) => ({
    table: table.name,
    keys: keysToAskFor(keys),
    columns: new Set(table.columns.map(({ name }) => name).filter(isRead)),
  }));
}

/** A list that is too long is read as "all rows". */
function keysToAskFor(keys: Keys): ScanRequest['keys'] {
  const short = [...keys].filter(([, texts]) => texts.size <= SCAN_IDS_MAX);
  return Object.fromEntries(short.map(([column, texts]) => [column, [...texts]]));
}

function onlyStatement(tree: Node): Node {
  if (tree['error'] === true) {
    const message = text(tree['error_message']);
    const isOther = tree['error_type'] === 'not implemented';
    throw new QueryFailure('statement', isOther ? 'only SELECT statements are possible' : message);
  }
  const statements = nodesOf(tree['statements']);
  const [statement] = statements;
  if (statement === undefined) throw new QueryFailure('statement', 'the statement is empty');
  if (statements.length > 1) {
    throw new QueryFailure('failed', 'only one statement at a time is possible');
  }
  return statement;
}

function checkTableFunction(node: Node): void {
  const name = lower(asNode(node['function'])?.['function_name']);
  if (!TABLE_FUNCTIONS.has(name)) {
    throw new QueryFailure('failed', `table function '${name}' is not available`);
  }
}

/** Where a table is named twice, a row counts that either of them lets through. */
function addScan(scans: Map<TableDefinition, Keys>, table: TableDefinition, keys: Keys): void {
  const known = scans.get(table);
  if (known === undefined) {
    scans.set(table, keys);
    return;
  }
  const both = [...known].flatMap(([column, texts]): [string, ReadonlySet<string>][] => {
    const others = keys.get(column);
    return others === undefined ? [] : [[column, new Set([...texts, ...others])]];
  });
  scans.set(table, new Map(both));
}

/** Notes for each base relation of a SELECT which keys its WHERE lets through. */
function findKeys(
  select: Node,
  tables: ReadonlyMap<string, TableDefinition>,
  found: Map<Node, Keys>,
): void {
  const relations = relationsOf(asNode(select['from_table']));
  const conjuncts = conjunctsOf(asNode(select['where_clause']));
  for (const relation of relations) {
    if (relation['type'] !== 'BASE_TABLE' || hasItems(relation['column_name_alias'])) continue;
    const keyColumns = tables.get(lower(relation['table_name']))?.keyColumns ?? [];
    const keys = new Map<string, ReadonlySet<string>>();
    for (const column of keyColumns) {
      const texts = textsLetThrough(conjuncts, isColumnOf(relation, column, relations.length > 1));
      if (texts !== undefined) keys.set(column, texts);
    }
    found.set(relation, keys);
  }
}

/** Tells the names of a column of this relation; without the relation's name only where there is no other. */
function isColumnOf(
  relation: Node,
  column: string,
  hasOthers: boolean,
): (columnNames: readonly string[]) => boolean {
  const alias = lower(relation['alias']);
  const name = alias === '' ? lower(relation['table_name']) : alias;
  return (names) =>
    names.at(-1) === column && (names.length === 1 ? !hasOthers : names.at(-2) === name);
}

/** What the first conjunct on the column lets through. */
function textsLetThrough(
  conjuncts: readonly Node[],
  isKey: (columnNames: readonly string[]) => boolean,
): ReadonlySet<string> | undefined {
  for (const conjunct of conjuncts) {
    const texts = keysOf(conjunct, isKey);
    if (texts !== undefined) return texts;
  }
  return undefined;
}

/** The relations that a FROM clause joins; subqueries count as one and are not entered. */
function relationsOf(from: Node | undefined): Node[] {
  if (from === undefined || from['type'] === 'EMPTY') return [];
  if (from['type'] !== 'JOIN') return [from];
  return [...relationsOf(asNode(from['left'])), ...relationsOf(asNode(from['right']))];
}

function conjunctsOf(expression: Node | undefined): Node[] {
  if (expression === undefined) return [];
  if (expression['type'] !== 'CONJUNCTION_AND') return [expression];
  return nodesOf(expression['children']).flatMap(conjunctsOf);
}

/** Texts that `key = 'text'`, `'text' = key` or `key IN ('text', …)` lets through; undefined for anything else. */
function keysOf(
  expression: Node,
  isKey: (columnNames: readonly string[]) => boolean,
): ReadonlySet<string> | undefined {
  const operands = operandsOf(expression);
  if (operands === undefined) return undefined;
  const columns = operands.filter((operand) => operand['class'] === 'COLUMN_REF');
  const [column] = columns;
  if (columns.length !== 1 || column === undefined || !isKey(textsOf(column['column_names'])))
    return undefined;
  if (expression['type'] === 'COMPARE_IN' && operands[0] !== column) return undefined;
  const keys = operands.filter((operand) => operand !== column).map(constantText);
  return keys.every((key) => key !== undefined) ? new Set(keys) : undefined;
}

function operandsOf(expression: Node): Node[] | undefined {
  switch (expression['type']) {
    case 'COMPARE_EQUAL':
      return nodesOf([expression['left'], expression['right']]);
    case 'COMPARE_IN':
      return nodesOf(expression['children']);
    default:
      return undefined;
  }
}

function constantText(expression: Node): string | undefined {
  const value = asNode(expression['value']);
  if (expression['class'] !== 'CONSTANT' || value === undefined) return undefined;
  const constant = value['value'];
  return asNode(value['type'])?.['id'] === 'VARCHAR' && typeof constant === 'string'
    ? constant
    : undefined;
}
