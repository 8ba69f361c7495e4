/**
 * What a statement reads, told from the parse tree that DuckDB gives (`json_serialize_sql`). A statement is accepted only if
 * it is one SELECT over tables and harmless table functions.
 *
 * The keys found for a table are a superset of the rows that can matter: a conjunct of WHERE on the key of a base relation
 * refuses every other row, also those that an outer join would fill with nulls.
 */

import { SCAN_IDS_MAX } from '../limits.js';
import type { ScanRequest, TableDefinition } from '../table.js';
import { QueryFailure } from './query-failure.js';

type Node = Readonly<Record<string, unknown>>;

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
  const scans = new Map<string, Set<string> | undefined>();
  const keysOfRelation = new Map<Node, ReadonlySet<string>>();
  walk(statement, (node) => {
    if (node['type'] === 'SELECT_NODE') findKeys(node, tables, keysOfRelation);
    if (node['type'] === 'TABLE_FUNCTION') checkTableFunction(node);
    if (node['type'] === 'BASE_TABLE') {
      const table = tables.get(lower(node['table_name']));
      if (table !== undefined) addScan(scans, table.name, keysOfRelation.get(node));
    }
  });
  return [...scans].map(([table, keys]) => ({
    table,
    keys: keys === undefined || keys.size > SCAN_IDS_MAX ? undefined : [...keys],
  }));
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

/** Calls `visit` for every object of the tree, parents first. */
function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, visit);
    return;
  }
  const node = asNode(value);
  if (node === undefined) return;
  visit(node);
  for (const child of Object.values(node)) {
    if (typeof child === 'object') walk(child, visit);
  }
}

function checkTableFunction(node: Node): void {
  const name = lower(asNode(node['function'])?.['function_name']);
  if (!TABLE_FUNCTIONS.has(name)) {
    throw new QueryFailure('failed', `table function '${name}' is not available`);
  }
}

function addScan(
  scans: Map<string, Set<string> | undefined>,
  table: string,
  keys: ReadonlySet<string> | undefined,
): void {
  if (keys === undefined) {
    scans.set(table, undefined);
  } else if (!scans.has(table)) {
    scans.set(table, new Set(keys));
  } else {
    const known = scans.get(table);
    if (known !== undefined) for (const key of keys) known.add(key);
  }
}

/** Notes for each base relation of a SELECT which keys its WHERE lets through. */
function findKeys(
  select: Node,
  tables: ReadonlyMap<string, TableDefinition>,
  found: Map<Node, ReadonlySet<string>>,
): void {
  const relations = relationsOf(asNode(select['from_table']));
  const conjuncts = conjunctsOf(asNode(select['where_clause']));
  for (const relation of relations) {
    if (relation['type'] !== 'BASE_TABLE' || hasItems(relation['column_name_alias'])) continue;
    const keyColumn = tables.get(lower(relation['table_name']))?.keyColumn;
    if (keyColumn === undefined) continue;
    const alias = lower(relation['alias']);
    const name = alias === '' ? lower(relation['table_name']) : alias;
    const isKey = (columnNames: readonly string[]): boolean =>
      columnNames.at(-1) === keyColumn &&
      (columnNames.length === 1 ? relations.length === 1 : columnNames.at(-2) === name);
    for (const conjunct of conjuncts) {
      const keys = keysOf(conjunct, isKey);
      if (keys === undefined) continue;
      found.set(relation, keys);
      break;
    }
  }
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
  if (columns.length !== 1 || column === undefined || !isKey(columnNames(column))) return undefined;
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

function columnNames(column: Node): string[] {
  const names = column['column_names'];
  return Array.isArray(names) ? names.map(lower) : [];
}

function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Node)
    : undefined;
}

function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.map(asNode).filter((node) => node !== undefined) : [];
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function lower(value: unknown): string {
  return text(value).toLowerCase();
}
