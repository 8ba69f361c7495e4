/** Which invocations a batch operation is about. Pure. */

import type { BatchFilter, BatchOperation } from '@engine/metadata';
import { shownStatus, type InvocationSnapshot } from '@engine/wire';
import type { OperationKind } from '../invocation-operations.js';

/**
 * Whether a scan that found `snapshot` has found an invocation for this batch operation: it fits the filter, it was there before,
 * and it is in a state in which the operation does something.
 */
export function isSelected(
  batch: Pick<BatchOperation, 'operation' | 'createdAt'>,
  filter: BatchFilter,
  snapshot: InvocationSnapshot,
): boolean {
  return (
    snapshot.invocation.createdAt <= batch.createdAt &&
    isApplicable(batch.operation.kind, snapshot) &&
    fits(filter, snapshot)
  );
}

function isApplicable(kind: OperationKind, snapshot: InvocationSnapshot): boolean {
  const { status, journalLength } = snapshot.invocation;
  switch (kind) {
    case 'cancel':
    case 'kill':
      return status !== 'completed';
    case 'pause':
      return status === 'invoked' || status === 'suspended';
    case 'resume':
      return (
        status === 'paused' || status === 'suspended' || shownStatus(snapshot) === 'backing-off'
      );
    case 'purge':
      return status === 'completed';
    case 'purge-journal':
    case 'restart-as-new':
      return status === 'completed' && journalLength > 0;
  }
}

function fits(filter: BatchFilter, snapshot: InvocationSnapshot): boolean {
  const { target, pin, createdAt } = snapshot.invocation;
  return (
    isWanted(filter.service, target.service) &&
    isWanted(filter.handler, target.handler) &&
    isWanted(filter.key, target.key) &&
    isWanted(filter.deploymentId, pin?.deploymentId) &&
    isWanted(filter.result, resultOf(snapshot)) &&
    (filter.statuses === undefined || filter.statuses.includes(shownStatus(snapshot))) &&
    (filter.createdAfter === undefined || createdAt > filter.createdAfter) &&
    (filter.createdBefore === undefined || createdAt < filter.createdBefore)
  );
}

function isWanted(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === undefined || wanted === found;
}

function resultOf({ invocation, failure }: InvocationSnapshot): 'success' | 'failure' | undefined {
  if (invocation.status !== 'completed') return undefined;
  return failure === undefined ? 'success' : 'failure';
}
