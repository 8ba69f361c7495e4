/** Changes of a service that is registered already: the rules. Pure. */

import {
  EngineError,
  type Deployment,
  type HandlerOptions,
  type HandlerSchema,
  type Schema,
  type ServiceSchema,
} from '@engine/domain';

/** What changes; undefined members stay as they are. */
export interface ServiceChanges {
  readonly public?: boolean | undefined;
  readonly inactivityTimeoutMs?: number | undefined;
  readonly abortTimeoutMs?: number | undefined;
  readonly journalRetentionMs?: number | undefined;
  readonly idempotencyRetentionMs?: number | undefined;
  readonly workflowCompletionRetentionMs?: number | undefined;
}

/**
 * The document with the changes in the newest revision of a service, which stays that revision. What a handler settles for
 * itself stays in force, and the next registration of the service brings its own settings (interface §2.3). The retention of
 * workflows is no such thing, though manifests state it at the run handler: it belongs to the service (interface §2.3 has no
 * such member), so a change here takes its place.
 *
 * Errors: `not-found`; `bad-request` for a workflow retention elsewhere.
 */
export function modifyService(schema: Schema, name: string, changes: ServiceChanges): Schema {
  const place = newestOf(schema, name);
  if (place === undefined) throw new EngineError('not-found', `unknown service '${name}'`);
  if (changes.workflowCompletionRetentionMs !== undefined && place.service.type !== 'workflow') {
    throw new EngineError(
      'bad-request',
      `bad field 'workflow_completion_retention': service '${name}' is no workflow`,
    );
  }
  const { public: isPublic, ...options } = changes;
  const settled = Object.entries(options).filter(([, value]) => value !== undefined);
  if (isPublic === undefined && settled.length === 0) return schema;
  const service: ServiceSchema = {
    ...place.service,
    ingressPrivate: isPublic === undefined ? place.service.ingressPrivate : !isPublic,
    handlers:
      changes.workflowCompletionRetentionMs === undefined
        ? place.service.handlers
        : place.service.handlers.map(withoutWorkflowRetention),
    options: { ...place.service.options, ...(Object.fromEntries(settled) as HandlerOptions) },
  };
  return withService(schema, place, service);
}

function withoutWorkflowRetention(handler: HandlerSchema): HandlerSchema {
  return { ...handler, options: { ...handler.options, workflowCompletionRetentionMs: undefined } };
}

interface Place {
  readonly deployment: Deployment;
  readonly service: ServiceSchema;
}

function newestOf(schema: Schema, name: string): Place | undefined {
  let newest: Place | undefined;
  for (const deployment of schema.deployments) {
    const service = deployment.services.find((each) => each.name === name);
    if (service === undefined) continue;
    if (newest === undefined || newest.service.revision < service.revision) {
      newest = { deployment, service };
    }
  }
  return newest;
}

function withService(schema: Schema, place: Place, service: ServiceSchema): Schema {
  const services = place.deployment.services.map((each) =>
    each === place.service ? service : each,
  );
  const deployment = { ...place.deployment, services };
  return {
    deployments: schema.deployments.map((each) => (each === place.deployment ? deployment : each)),
  };
}
