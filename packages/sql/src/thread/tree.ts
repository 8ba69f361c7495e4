/** The parse tree of a statement, as DuckDB's `json_serialize_sql` gives it. */

export type Node = Readonly<Record<string, unknown>>;

/** Calls `visit` for every object of the tree, parents first. */
export function walk(value: unknown, visit: (node: Node) => void): void {
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

/** True when some object of the tree is such a one. */
export function someNode(value: unknown, isSuch: (node: Node) => boolean): boolean {
  const found: Node[] = [];
  walk(value, (node) => {
    if (isSuch(node)) found.push(node);
  });
  return found.length > 0;
}

export function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Node)
    : undefined;
}

export function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.map(asNode).filter((node) => node !== undefined) : [];
}

/** Lower-case texts of a list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(lower) : [];
}

export function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function lower(value: unknown): string {
  return text(value).toLowerCase();
}
