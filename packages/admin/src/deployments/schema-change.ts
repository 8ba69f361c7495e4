/** Small questions and changes on the schema document. Pure. */

import {
  EngineError,
  type Deployment,
  type DeploymentId,
  type Schema,
  type ServiceSchema,
} from '@engine/domain';

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
  const isKnown = schema.deployments.some(({ id }) => id === deployment.id);
  if (!isKnown) return { deployments: [...schema.deployments, deployment] };
  return {
    deployments: schema.deployments.map((each) => (each.id === deployment.id ? deployment : each)),
  };
}

export function withoutDeployment(schema: Schema, id: DeploymentId): Schema {
  requireDeployment(schema, id);
  return { deployments: schema.deployments.filter((deployment) => deployment.id !== id) };
}
