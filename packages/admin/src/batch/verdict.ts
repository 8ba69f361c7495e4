/** What the outcome for one invocation means for a batch operation. Pure. */

import type { InvocationId, OperationOutcome } from '@engine/domain';
import type { BatchOperation } from '@engine/metadata';
import type { OperationKind } from '../invocation-operations.js';
import { isSuccess, refusalReason } from '../outcome-reason.js';

export type Verdict =
  | { readonly kind: 'succeeded' }
  /** There was nothing to do, or not any more. */
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly reason: string };

export const SUCCEEDED: Verdict = { kind: 'succeeded' };
const SKIPPED: Verdict = { kind: 'skipped' };

/** Outcomes by which a repeat shows that the first time had its effect. */
const EFFECTS: Readonly<Record<OperationKind, readonly OperationOutcome[]>> = {
  cancel: ['already-completed', 'not-found'],
  kill: ['already-completed', 'not-found'],
  pause: ['unchanged'],
  resume: ['unchanged', 'already-completed'],
  'restart-as-new': ['unchanged'],
  purge: ['not-found'],
  'purge-journal': ['unchanged'],
};

/** Outcomes that say that an invocation has moved on since a scan found it. */
const MOVED_ON = new Set<OperationOutcome>([
  'not-found',
  'already-completed',
  'not-completed',
  'not-started',
  'not-running',
  'still-running',
]);

/** `isRepeat`: the operation may have taken place before. */
export function judge(
  { operation, selection }: BatchOperation,
  id: InvocationId,
  { outcome, isRepeat }: { readonly outcome: OperationOutcome; readonly isRepeat: boolean },
): Verdict {
  if (isRepeat && EFFECTS[operation.kind].includes(outcome)) return SUCCEEDED;
  if (isSuccess(outcome)) return outcome === 'unchanged' ? SKIPPED : SUCCEEDED;
  if (selection.kind === 'filter' && MOVED_ON.has(outcome)) return SKIPPED;
  return { kind: 'failed', reason: refusalReason(operation.kind, outcome, id) };
}
