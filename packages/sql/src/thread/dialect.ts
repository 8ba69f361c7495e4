/**
 * Clients' SQL to DuckDB's, where the two differ: small changes in the text, at the places that the parse tree names. What is
 * not changed reaches the database letter by letter.
 *
 * - FIRST_VALUE and LAST_VALUE are aggregates as well, not only window functions.
 * - The rows of a derived table without a name of its own answer to the name of the one table inside it.
 * - SHOW TABLES says where the tables are.
 */

import { asNode, lower, nodesOf, someNode, textsOf, walk, type Node } from './tree.js';

interface Change {
  /** In UTF-8 bytes of the statement. */
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

const SHOW_TABLES =
  'SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables ORDER BY table_name';

/** What DuckDB calls a derived table without a name. */
const UNNAMED = 'unnamed_subquery.';

const AGGREGATES: Readonly<Record<string, string>> = { first_value: 'first', last_value: 'last' };

/** The statement as DuckDB is to run it. `tree`: its parse tree. */
export function adaptDialect(statement: string, tree: Node): string {
  const root = asNode(nodesOf(tree['statements'])[0]?.['node']);
  if (root === undefined) return statement;
  const from = asNode(root['from_table']);
  if (from?.['type'] === 'SHOW_REF' && lower(from['table_name']) === '"tables"') return SHOW_TABLES;
  const bytes = Buffer.from(statement);
  const changes: Change[] = [];
  walk(root, (node) => {
    changes.push(...aggregateChanges(node, bytes), ...derivedTableChanges(node, bytes));
  });
  return changed(bytes, changes);
}

function changed(bytes: Buffer, changes: readonly Change[]): string {
  const inOrder = [...changes].sort((a, b) => a.at - b.at);
  let text = '';
  let done = 0;
  for (const change of inOrder) {
    if (change.at < done) continue;
    text += bytes.toString('utf8', done, change.at) + change.text;
    done = change.at + change.length;
  }
  return text + bytes.toString('utf8', done);
}

function aggregateChanges(node: Node, bytes: Buffer): Change[] {
  if (node['class'] !== 'FUNCTION') return [];
  const name = lower(node['function_name']);
  const text = AGGREGATES[name];
  const at = node['query_location'];
  if (text === undefined || typeof at !== 'number') return [];
  const written = bytes.toString('utf8', at, at + name.length).toLowerCase();
  return written === name ? [{ at, length: name.length, text }] : [];
}

/** Renames the table where a SELECT reads columns of such a derived table. */
function derivedTableChanges(select: Node, bytes: Buffer): Change[] {
  const from = asNode(select['from_table']);
  if (select['type'] !== 'SELECT_NODE' || from?.['type'] !== 'SUBQUERY') return [];
  const inner = asNode(asNode(asNode(from['subquery'])?.['node'])?.['from_table']);
  if (lower(from['alias']) !== '' || inner?.['type'] !== 'BASE_TABLE') return [];
  const name = relationName(inner);
  return referencesOutside(select, from, name).flatMap((node) => {
    const names = textsOf(node['column_names']);
    const at = node['query_location'];
    if (names.length !== 2 || names[0] !== name || typeof at !== 'number') return [];
    const qualifier = /^("[^"]+"|\w+)\s*\.\s*/.exec(bytes.toString('utf8', at));
    if (qualifier === null) return [];
    return [{ at, length: Buffer.byteLength(qualifier[0]), text: UNNAMED }];
  });
}

/** The column references of a SELECT, except in its FROM and in subqueries that give the name to something else. */
function referencesOutside(select: Node, from: Node, name: string): Node[] {
  const found: Node[] = [];
  const enter = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(enter);
      return;
    }
    const node = asNode(value);
    if (node === undefined || node === from || givesName(node, name)) return;
    if (node['class'] === 'COLUMN_REF') found.push(node);
    Object.values(node).forEach(enter);
  };
  Object.values(select).forEach(enter);
  return found;
}

function givesName(node: Node, name: string): boolean {
  if (node['type'] !== 'SELECT_NODE') return false;
  return someNode(
    node['from_table'],
    (relation) =>
      (relation['type'] === 'BASE_TABLE' && relationName(relation) === name) ||
      (relation['type'] === 'SUBQUERY' && lower(relation['alias']) === name),
  );
}

function relationName(relation: Node): string {
  const alias = lower(relation['alias']);
  return alias === '' ? lower(relation['table_name']) : alias;
}
