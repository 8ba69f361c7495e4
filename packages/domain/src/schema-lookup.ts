/** Questions that hot paths ask of the schema: built once per schema version, answered by maps. */

import { resolvePolicies, type HandlerPolicies } from './handler-policies.js';
import type { DeploymentId } from './ids/index.js';
import type {
  Deployment,
  HandlerDefaults,
  HandlerSchema,
  Schema,
  ServiceSchema,
} from './schema.js';
import type { TargetKind } from './target.js';

/** A handler as one deployment serves it, with every setting resolved. */
export interface ResolvedHandler extends HandlerPolicies {
  readonly service: ServiceSchema;
  readonly handler: HandlerSchema;
  readonly kind: TargetKind;
  readonly isPublic: boolean;
}

export interface ResolvedService {
  readonly service: ServiceSchema;
  readonly deployment: Deployment;
  readonly handlers: ReadonlyMap<string, ResolvedHandler>;
}

/** Answers look-ups over one version of the schema. Immutable. */
export class SchemaLookup {
  readonly schema: Schema;
  readonly #services = new Map<string, ResolvedService>();
  readonly #deployments = new Map<DeploymentId, ReadonlyMap<string, ResolvedService>>();

  constructor(schema: Schema, defaults: HandlerDefaults) {
    this.schema = schema;
    for (const deployment of schema.deployments) {
      const services = new Map<string, ResolvedService>();
      for (const service of deployment.services) {
        const resolved = resolveService(service, deployment, defaults);
        services.set(service.name, resolved);
        const newest = this.#services.get(service.name);
        if (newest === undefined || newest.service.revision < service.revision) {
          this.#services.set(service.name, resolved);
        }
      }
      this.#deployments.set(deployment.id, services);
    }
  }

  /** Newest revision of each service. */
  services(): IterableIterator<ResolvedService> {
    return this.#services.values();
  }

  /** Newest revision of a service with the deployment that serves it. */
  service(name: string): ResolvedService | undefined {
    return this.#services.get(name);
  }

  handler(service: string, handler: string): ResolvedHandler | undefined {
    return this.#services.get(service)?.handlers.get(handler);
  }

  deployment(id: DeploymentId): Deployment | undefined {
    return this.schema.deployments.find((deployment) => deployment.id === id);
  }

  /** A service as one particular deployment serves it. */
  serviceOf(id: DeploymentId, service: string): ResolvedService | undefined {
    return this.#deployments.get(id)?.get(service);
  }
}

/** Kind of target that a handler of a service is. */
export function targetKind(service: ServiceSchema, handler: HandlerSchema): TargetKind {
  switch (service.type) {
    case 'service':
      return 'service';
    case 'virtual-object':
      return handler.type === 'shared' ? 'object-shared' : 'object-exclusive';
    case 'workflow':
      return handler.type === 'workflow' ? 'workflow-run' : 'workflow-shared';
  }
}

/**
 * Retentions of a new invocation (interface §2.3, timer semantics 3): journal retention is capped by the retention of the
 * result where one is kept for workflows and idempotent calls; otherwise the result is kept as long as the journal.
 */
export function retentionOf(
  handler: ResolvedHandler,
  isIdempotent: boolean,
): { readonly completionRetentionMs: number; readonly journalRetentionMs: number } {
  const completion =
    handler.kind === 'workflow-run'
      ? handler.workflowCompletionRetentionMs
      : isIdempotent
        ? handler.idempotencyRetentionMs
        : handler.journalRetentionMs;
  return {
    completionRetentionMs: completion,
    journalRetentionMs: Math.min(handler.journalRetentionMs, completion),
  };
}

function resolveService(
  service: ServiceSchema,
  deployment: Deployment,
  defaults: HandlerDefaults,
): ResolvedService {
  const handlers = new Map<string, ResolvedHandler>();
  for (const handler of service.handlers) {
    handlers.set(handler.name, resolveHandler(service, handler, defaults));
  }
  return { service, deployment, handlers };
}

function resolveHandler(
  service: ServiceSchema,
  handler: HandlerSchema,
  defaults: HandlerDefaults,
): ResolvedHandler {
  return {
    service,
    handler,
    kind: targetKind(service, handler),
    isPublic: !(handler.ingressPrivate ?? service.ingressPrivate),
    ...resolvePolicies(handler.options, service.options, defaults),
  };
}
