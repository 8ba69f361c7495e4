import type { AwaitTree, NotificationId } from '@engine/domain';
import { notificationIdJson, type JsonObject } from './json-parts.js';

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

function toJson(tree: AwaitTree): JsonObject {
  if (tree.kind === 'single') return { Single: notificationIdJson(tree.id) };
  return { [COMBINATORS[tree.kind]]: tree.children.map(toJson) };
}

function leaves(tree: AwaitTree): NotificationId[] {
  return tree.kind === 'single' ? [tree.id] : tree.children.flatMap(leaves);
}

function unique(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}
