/** Batch operations as JSON. */

import type { DeploymentChoice } from '@engine/domain';
import type { BatchFilter, BatchOperation } from '@engine/metadata';

export function batchOperationView(batch: BatchOperation): object {
  return {
    id: batch.id,
    operation: batch.operation.kind,
    ...operationFields(batch),
    ...selectionFields(batch),
    dry_run: batch.isDryRun,
    status: batch.status,
    abort_requested: batch.isAbortRequested,
    error: batch.reason ?? null,
    created_at: timestamp(batch.createdAt),
    ended_at: batch.endedAt === undefined ? null : timestamp(batch.endedAt),
    progress: {
      scanned: batch.scanned,
      matched: batch.matched,
      succeeded: batch.succeeded,
      failed: batch.failed,
      skipped: batch.skipped,
    },
    failures: batch.failures.map(({ id, reason }) => ({ invocation_id: id, error: reason })),
  };
}

function operationFields({ operation }: BatchOperation): object {
  switch (operation.kind) {
    case 'resume':
      return { deployment: choiceText(operation.deployment) };
    case 'restart-as-new':
      return { from: operation.copyUpTo, deployment: choiceText(operation.deployment) };
    default:
      return {};
  }
}

function selectionFields({ selection }: BatchOperation): object {
  return selection.kind === 'ids'
    ? { invocation_count: selection.ids.length }
    : { filter: filterView(selection.filter) };
}

function filterView(filter: BatchFilter): object {
  return {
    service: filter.service,
    handler: filter.handler,
    key: filter.key,
    status: filter.statuses,
    completion_result: filter.result,
    deployment_id: filter.deploymentId,
    created_after: filter.createdAfter === undefined ? undefined : timestamp(filter.createdAfter),
    created_before:
      filter.createdBefore === undefined ? undefined : timestamp(filter.createdBefore),
  };
}

function choiceText(choice: DeploymentChoice): string {
  return choice.kind === 'fixed' ? choice.deploymentId : choice.kind;
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
