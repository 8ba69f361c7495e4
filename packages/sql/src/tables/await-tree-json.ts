import { assertNever } from '@engine/stdx';
import type { AwaitTree, NotificationId } from '@engine/domain';

/** What a suspended invocation waits for, as JSON: `{"FirstCompleted":[{"Single":{"CompletionId":1}},…]}`. */
export function awaitTreeJson(tree: AwaitTree): string {
  return JSON.stringify(toJson(tree));
}

/** Completion ids in a tree, each once, in order. */
export function awaitedCompletions(tree: AwaitTree): number[] {
  return unique(leaves(tree).flatMap((id) => (id.kind === 'completion' ? [id.id] : [])));
}

/** Indexes of signals in a tree, each once, in order. Named signals have none. */
export function awaitedSignals(tree: AwaitTree): number[] {
  return unique(leaves(tree).flatMap((id) => (id.kind === 'signal' ? [id.index] : [])));
}

const COMBINATORS = {
  unknown: 'Unknown',
  'first-completed': 'FirstCompleted',
  'all-completed': 'AllCompleted',
  'first-succeeded-or-all-failed': 'FirstSucceededOrAllFailed',
  'all-succeeded-or-first-failed': 'AllSucceededOrFirstFailed',
} as const;

function toJson(tree: AwaitTree): unknown {
  if (tree.kind === 'single') return { Single: idJson(tree.id) };
  return { [COMBINATORS[tree.kind]]: tree.children.map(toJson) };
}

function idJson(id: NotificationId): unknown {
  switch (id.kind) {
    case 'completion':
      return { CompletionId: id.id };
    case 'signal':
      return { SignalIndex: id.index };
    case 'named-signal':
      return { SignalName: id.name };
    default:
      return assertNever(id);
  }
}

function leaves(tree: AwaitTree): NotificationId[] {
  return tree.kind === 'single' ? [tree.id] : tree.children.flatMap(leaves);
}

function unique(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}
