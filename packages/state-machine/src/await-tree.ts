/** Resolution of what a suspended invocation waits for (SPEC AWT). */

import type { AwaitCombinator, AwaitTree, NotificationId } from '@engine/domain';
import { assertNever } from '@engine/stdx';

/** What is known of one notification. `indeterminate`: it arrived, but whether it counts as success is the handler's to say. */
export type Arrival = 'pending' | 'success' | 'failure' | 'indeterminate';

/**
 * Resolves a tree against the notifications that have arrived.
 *
 * @returns anything but `pending` when the invocation must wake up. Waking up for nothing is allowed, sleeping on is not.
 */
export function resolveAwait(tree: AwaitTree, arrivalOf: (id: NotificationId) => Arrival): Arrival {
  if (tree.kind === 'single') return arrivalOf(tree.id);
  const children = tree.children.map((child) => resolveAwait(child, arrivalOf));
  const combinator: AwaitCombinator = tree.kind;
  switch (combinator) {
    case 'unknown':
      return children.some((child) => child !== 'pending') ? 'indeterminate' : 'pending';
    case 'first-completed':
      return children.find((child) => child !== 'pending') ?? 'pending';
    case 'all-completed':
      return children.every((child) => child !== 'pending') ? 'success' : 'pending';
    case 'first-succeeded-or-all-failed':
      return resolveDecider(children, 'success');
    case 'all-succeeded-or-first-failed':
      return resolveDecider(children, 'failure');
    default:
      return assertNever(combinator);
  }
}

/** One child of kind `decider` decides; else all must have the other kind; an indeterminate child wakes at once. */
function resolveDecider(children: readonly Arrival[], decider: 'success' | 'failure'): Arrival {
  if (children.includes('indeterminate')) return 'indeterminate';
  if (children.includes(decider)) return decider;
  if (children.includes('pending')) return 'pending';
  return decider === 'success' ? 'failure' : 'success';
}
