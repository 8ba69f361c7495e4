/** The one place where what the admin does is counted and told. */

import type { Deployment } from '@engine/domain';
import { counter } from '@engine/telemetry';
import { log } from './logger.js';

const registrations = counter('engine_admin_registrations_total', {
  description: 'Deployments registered, overwritten, updated, removed.',
  unit: '{deployment}',
});
const failures = counter('engine_admin_requests_failed_total', {
  description: 'Requests that ended with a fault of the server.',
  unit: '{request}',
});

export type DeploymentChange = 'created' | 'overwritten' | 'updated' | 'removed';

export function deploymentChanged(change: DeploymentChange, deployment: Deployment): void {
  registrations.add(1, { change });
  const services = deployment.services.map(({ name, revision }) => `${name}@${String(revision)}`);
  log.info({ deployment: deployment.id, uri: deployment.uri, services }, `deployment ${change}`);
}

export function requestFailed(path: string, error: unknown): void {
  failures.add(1);
  log.error({ path, err: error }, 'request failed');
}
