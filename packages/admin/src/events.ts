/** The one place where what the admin does is counted and told. */

import type { Deployment } from '@engine/domain';
import type { BatchOperation } from '@engine/metadata';
import { counter } from '@engine/telemetry';
import { log } from './logger.js';

const registrations = counter('engine_admin_registrations_total', {
  description: 'Deployments registered, overwritten, updated, removed.',
  unit: '{deployment}',
});
const modifications = counter('engine_admin_service_modifications_total', {
  description: 'Services whose settings were changed.',
  unit: '{service}',
});
const failures = counter('engine_admin_requests_failed_total', {
  description: 'Requests that ended with a fault of the server.',
  unit: '{request}',
});
const batches = counter('engine_admin_batch_operations_total', {
  description: 'Batch operations that began, were taken up again, or ended, by how.',
  unit: '{batch}',
});

export type DeploymentChange = 'created' | 'overwritten' | 'updated' | 'removed';

export function deploymentChanged(change: DeploymentChange, deployment: Deployment): void {
  registrations.add(1, { change });
  const services = deployment.services.map(({ name, revision }) => `${name}@${String(revision)}`);
  log.info(
    { deployment: deployment.id, endpoint: deployment.endpoint, services },
    `deployment ${change}`,
  );
}

export function serviceModified(service: string, changes: object): void {
  modifications.add(1);
  log.info({ service, changes }, 'service modified');
}

export function requestFailed(path: string, error: unknown): void {
  failures.add(1);
  log.error({ path, err: error }, 'request failed');
}

export function batchStarted(batch: BatchOperation | undefined, isTakenOver: boolean): void {
  const change = isTakenOver ? 'taken up' : 'running';
  batches.add(1, { change });
  log.info({ batch: batch?.id, operation: batch?.operation.kind }, `batch operation ${change}`);
}

/** Also told when the process stops before its end; then it is still `running`. */
export function batchEnded(batch: BatchOperation | undefined): void {
  if (batch === undefined) return;
  const { id, status, matched, succeeded, failed, skipped } = batch;
  if (status !== 'running') batches.add(1, { change: status });
  log.info({ batch: id, status, matched, succeeded, failed, skipped }, 'batch operation stops');
}

export function batchFailed(id: string, error: unknown): void {
  failures.add(1);
  log.error({ batch: id, err: error }, 'batch operation cannot go on');
}

export function unreadableBatch(place: number, error: unknown): void {
  log.error({ place, err: error }, 'the document of a batch operation cannot be read; it stays');
}
