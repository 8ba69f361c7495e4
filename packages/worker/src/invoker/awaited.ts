/** What an invocation waits for, in words that people read in introspection and in the log. */

import {
  AWAKEABLE_SIGNAL_INDEX_MIN,
  CANCEL_SIGNAL_INDEX,
  formatAwakeableId,
  type AwaitCombinator,
  type AwaitTree,
  type InvocationId,
  type NotificationId,
} from '@engine/domain';
import { assertNever } from '@engine/stdx';

import type { OpenStep } from './open-steps.js';

/** Longer texts are cut: they are for people. */
export const AWAITED_TEXT_LENGTH_MAX = 512;

const COMBINATOR_TEXTS: Readonly<Record<AwaitCombinator, string>> = {
  unknown: 'any of',
  'first-completed': 'first of',
  'all-completed': 'all of',
  'first-succeeded-or-all-failed': 'first success of',
  'all-succeeded-or-first-failed': 'success of all of',
};

/** A tree with the steps that its leaves name; every handler awaits its cancellation too, so that goes without saying. */
export function awaitedText(id: InvocationId, tree: AwaitTree, steps: readonly OpenStep[]): string {
  // The depth of a tree has a limit, its text a smaller one: deep down nothing is read any more.
  const budget = { left: AWAITED_TEXT_LENGTH_MAX };
  return cut(treeText(tree, { id, steps, budget }) ?? 'its cancellation');
}

/** Steps without an answer: what a handler that does not say it may be waiting for. */
export function openStepsText(steps: readonly OpenStep[]): string {
  const texts = steps.map(({ text }) => text);
  return cut(texts.length === 1 ? (texts[0] ?? '') : `any of (${texts.join(', ')})`);
}

interface Reading {
  readonly id: InvocationId;
  readonly steps: readonly OpenStep[];
  readonly budget: { left: number };
}

function treeText(tree: AwaitTree, reading: Reading): string | undefined {
  if (tree.kind === 'single') {
    const text = leafText(tree.id, reading);
    reading.budget.left -= text?.length ?? 0;
    return text;
  }
  const texts: string[] = [];
  for (const child of tree.children) {
    if (reading.budget.left <= 0) break;
    const text = treeText(child, reading);
    if (text !== undefined) texts.push(text);
  }
  if (texts.length <= 1) return texts[0];
  return `${COMBINATOR_TEXTS[tree.kind]} (${texts.join(', ')})`;
}

function leafText(leaf: NotificationId, { id, steps }: Reading): string | undefined {
  switch (leaf.kind) {
    case 'completion': {
      const step = steps.find(({ completionId }) => completionId === leaf.id);
      return step?.text ?? `completion ${String(leaf.id)}`;
    }
    case 'signal': {
      const { index } = leaf;
      if (index === CANCEL_SIGNAL_INDEX) return undefined;
      if (index < AWAKEABLE_SIGNAL_INDEX_MIN) return `signal ${String(index)}`;
      return `awakeable ${formatAwakeableId({ invocationId: id, signalIndex: index })}`;
    }
    case 'named-signal':
      return `signal '${leaf.name}'`;
    default:
      return assertNever(leaf);
  }
}

function cut(text: string): string {
  return text.length <= AWAITED_TEXT_LENGTH_MAX
    ? text
    : `${text.slice(0, AWAITED_TEXT_LENGTH_MAX - 1)}…`;
}
