/** Which columns a statement may read, so that nobody makes cells that nobody looks at. */

import { hasItems, lower, someNode, textsOf, walk, type Node } from './tree.js';

/**
 * Tells whether a column of this name may be read, from whatever table. True for more than is read: for every name that stands
 * anywhere in the statement, and for all names where the statement can read columns without naming them.
 */
export function readColumns(statement: Node): (column: string) => boolean {
  if (readsUnnamedColumns(statement)) return () => true;
  const texts = new Set<string>();
  walk(statement, (node) => {
    for (const value of Object.values(node)) {
      if (typeof value === 'string') texts.add(value.toLowerCase());
      else if (Array.isArray(value)) for (const each of textsOf(value)) texts.add(each);
    }
  });
  return (column) => texts.has(column);
}

/** `*`, `#1`, natural joins, renamed columns, whole rows by the name of their relation. */
function readsUnnamedColumns(statement: Node): boolean {
  const relations = new Set<string>();
  walk(statement, (node) => {
    if (node['type'] !== 'BASE_TABLE' && node['type'] !== 'SUBQUERY') return;
    relations.add(lower(node['table_name'])).add(lower(node['alias']));
  });
  relations.delete('');
  return someNode(
    statement,
    (node) =>
      UNNAMED_CLASSES.has(lower(node['class'])) ||
      UNNAMED_TYPES.has(lower(node['type'])) ||
      node['ref_type'] === 'NATURAL' ||
      hasItems(node['column_name_alias']) ||
      relations.has(textsOf(node['column_names']).at(-1) ?? ''),
  );
}

const UNNAMED_CLASSES = new Set(['star', 'positional_reference']);
const UNNAMED_TYPES = new Set(['show_ref', 'pivot']);
