/** When two registrations mean the same deployment. Pure. */

import type { Deployment, Schema } from '@engine/domain';
import type { Destination } from '../discovery/discover.js';
import { destinationOf } from '../discovery/endpoint.js';

/** What a deployment is found by. */
export interface DeploymentIdentity {
  readonly destination: Destination;
  readonly additionalHeaders: Readonly<Record<string, string>>;
}

/**
 * Deployments that a registration of `identity` would repeat, newest first: functions with the same name, or endpoints with the
 * same host, port and path, to which each of the `routingHeaders` (names in lower case) is sent with the same value.
 */
export function deploymentsAt(
  schema: Schema,
  identity: DeploymentIdentity,
  routingHeaders: readonly string[],
): Deployment[] {
  return schema.deployments
    .filter((deployment) => isSame(deployment, identity, routingHeaders))
    .sort((a, b) => b.createdAt - a.createdAt);
}

/** The destination as people write it. */
export function destinationText(destination: Destination): string {
  return destination.kind === 'http' ? destination.uri : destination.arn;
}

function isSame(
  { endpoint, additionalHeaders }: Deployment,
  identity: DeploymentIdentity,
  routingHeaders: readonly string[],
): boolean {
  const { destination } = identity;
  if (destination.kind === 'lambda') {
    return endpoint.kind === 'lambda' && endpoint.arn === destination.arn;
  }
  if (endpoint.kind !== 'http') return false;
  if (destinationOf(endpoint.uri) !== destinationOf(destination.uri)) return false;
  return routingHeaders.every(
    (name) => additionalHeaders[name] === identity.additionalHeaders[name],
  );
}
