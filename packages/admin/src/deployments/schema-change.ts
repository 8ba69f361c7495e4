/** Small questions and changes on the schema document. Pure. */

import {
  EngineError,
  type Deployment,
  type DeploymentId,
  type Schema,
  type ServiceSchema,
} from '@engine/domain';
import { destinationOf } from '../discovery/endpoint.js';

/** Deployments with the destination of `uri`, newest first. */
export function deploymentsAt(schema: Schema, uri: string): Deployment[] {
  const destination = destinationOf(uri);
  return schema.deployments
    .filter((deployment) => destinationOf(deployment.uri) === destination)
    .sort((a, b) => b.createdAt - a.createdAt);
}

/** Errors: `not-found`. */
export function requireDeployment(schema: Schema, id: DeploymentId): Deployment {
  const found = schema.deployments.find((deployment) => deployment.id === id);
  if (found === undefined) throw new EngineError('not-found', `unknown deployment '${id}'`);
  return found;
}

/** The newest revision of each service over all deployments. */
export function newestRevisions(schema: Schema): Map<string, ServiceSchema> {
  const newest = new Map<string, ServiceSchema>();
  for (const service of schema.deployments.flatMap((deployment) => deployment.services)) {
    const known = newest.get(service.name);
    if (known === undefined || known.revision < service.revision) {
      newest.set(service.name, service);
    }
  }
  return newest;
}

/** The document with `deployment` in the place of the one with its id, or added at the end. */
export function withDeployment(schema: Schema, deployment: Deployment): Schema {
  const others = schema.deployments.filter(({ id }) => id !== deployment.id);
  return { deployments: [...others, deployment] };
}

export function withoutDeployment(schema: Schema, id: DeploymentId): Schema {
  requireDeployment(schema, id);
  return { deployments: schema.deployments.filter((deployment) => deployment.id !== id) };
}
