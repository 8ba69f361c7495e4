/** What a handler waits for: ids of notifications under combinators. */

import { ProtoWriter } from './proto.js';

export type Combinator = 'first' | 'all' | 'any-success' | 'all-or-failure';

export type Tree =
  | { readonly kind: 'one'; readonly id: string }
  | { readonly kind: Combinator; readonly children: readonly Tree[] };

const COMBINATOR_NUMBER: Readonly<Record<Combinator, number>> = {
  first: 1,
  all: 2,
  'any-success': 3,
  'all-or-failure': 4,
};

export type Arrival = 'pending' | 'success' | 'failure';

export function resolveTree(tree: Tree, arrivalOf: (id: string) => Arrival): Arrival {
  if (tree.kind === 'one') return arrivalOf(tree.id);
  const children = tree.children.map((child) => resolveTree(child, arrivalOf));
  switch (tree.kind) {
    case 'first':
      return children.find((child) => child !== 'pending') ?? 'pending';
    case 'all':
      return children.includes('pending') ? 'pending' : 'success';
    case 'any-success':
      if (children.includes('success')) return 'success';
      return children.includes('pending') ? 'pending' : 'failure';
    case 'all-or-failure':
      if (children.includes('failure')) return 'failure';
      return children.includes('pending') ? 'pending' : 'success';
  }
}

/** Leaves that have not arrived, each once. */
export function openLeaves(tree: Tree, arrivalOf: (id: string) => Arrival): readonly string[] {
  const leaves = new Set<string>();
  const visit = (node: Tree): void => {
    if (node.kind !== 'one') node.children.forEach(visit);
    else if (arrivalOf(node.id) === 'pending') leaves.add(node.id);
  };
  visit(tree);
  return [...leaves];
}

/** The tree as version 7 sends it, without the children that have arrived. */
export function futureWriter(tree: Tree, arrivalOf: (id: string) => Arrival): ProtoWriter {
  const node = tree.kind === 'one' ? ({ kind: 'first', children: [tree] } as const) : tree;
  const leaves = node.children.filter((child) => child.kind === 'one').map((child) => child.id);
  const open = [...new Set(leaves)].filter((id) => arrivalOf(id) === 'pending');
  const writer = flatWriter(open);
  for (const child of node.children) {
    if (child.kind === 'one' || resolveTree(child, arrivalOf) !== 'pending') continue;
    writer.message(4, futureWriter(child, arrivalOf));
  }
  return writer.uint(5, COMBINATOR_NUMBER[node.kind]);
}

/** Ids by their kind in the fields 1 to 3, which both forms of a suspension share. */
export function flatWriter(ids: readonly string[]): ProtoWriter {
  const numbers = (prefix: string): number[] =>
    ids.filter((id) => id.startsWith(prefix)).map((id) => Number(id.slice(1)));
  const writer = new ProtoWriter().packed(1, numbers('c')).packed(2, numbers('s'));
  for (const id of ids) if (id.startsWith('n')) writer.text(3, id.slice(1));
  return writer;
}
