/**
 * Registration of a deployment: the rules. Pure; the caller has asked the endpoint and makes the result durable.
 *
 * Every service of a registration becomes the newest revision of its name, so new invocations go there. Other deployments
 * keep what they serve, for the invocations that are pinned to them.
 */

import {
  EngineError,
  type Deployment,
  type DeploymentId,
  type Schema,
  type ServiceSchema,
} from '@engine/domain';
import type { DiscoveredService } from '@engine/service-protocol';
import type { Dialect } from '../dialect.js';
import type { DiscoveredEndpoint } from '../discovery/discover.js';
import { deploymentsAt, newestRevisions, withDeployment } from './schema-change.js';

export interface RegistrationRequest {
  /** In normal form. */
  readonly uri: string;
  readonly additionalHeaders: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Replace the deployment with this destination; includes `breaking`. */
  readonly force: boolean;
  /** Services may change their type. */
  readonly breaking: boolean;
}

export interface Registration {
  readonly schema: Schema;
  readonly deployment: Deployment;
  /** `known`: nothing changed. */
  readonly outcome: 'created' | 'overwritten' | 'known';
}

/**
 * The deployment that a request without force would repeat. Errors: META0004 or `conflict`, as the dialect wants it.
 */
export function knownDeployment(
  schema: Schema,
  request: RegistrationRequest,
  dialect: Dialect,
): Deployment | undefined {
  const [known] = request.force ? [] : deploymentsAt(schema, request.uri);
  if (known === undefined || dialect.duplicate === 'known') return known;
  throw new EngineError(
    dialect.duplicate,
    `deployment '${known.id}' is already registered at '${known.uri}'; use another uri, or force to replace it`,
  );
}

/**
 * What a registration makes of the document.
 *
 * @param fresh id and time (ms since the epoch) for the deployment
 * Errors: META0004, META0006, META0017, `conflict`.
 */
export function register(
  schema: Schema,
  request: RegistrationRequest,
  options: {
    readonly endpoint: DiscoveredEndpoint;
    readonly dialect: Dialect;
    readonly fresh: { readonly id: DeploymentId; readonly now: number };
  },
): Registration {
  const known = knownDeployment(schema, request, options.dialect);
  if (known !== undefined) return { schema, deployment: known, outcome: 'known' };
  const { endpoint, fresh } = options;
  const replaced = replacedDeployment(schema, request, options.dialect);
  const deployment: Deployment = {
    id: replaced?.id ?? fresh.id,
    uri: request.uri,
    protocolMode: endpoint.discovery.protocolMode,
    httpVersion: endpoint.httpVersion,
    additionalHeaders: request.additionalHeaders,
    metadata: request.metadata,
    createdAt: fresh.now,
    minProtocolVersion: endpoint.discovery.minProtocolVersion,
    maxProtocolVersion: endpoint.discovery.maxProtocolVersion,
    sdkVersion: endpoint.discovery.sdkVersion,
    services: newRevisions(schema, endpoint.discovery.services, request),
  };
  return {
    schema: withDeployment(schema, deployment),
    deployment,
    outcome: replaced === undefined ? 'created' : 'overwritten',
  };
}

function replacedDeployment(
  schema: Schema,
  request: RegistrationRequest,
  dialect: Dialect,
): Deployment | undefined {
  const [newest, ...others] = request.force ? deploymentsAt(schema, request.uri) : [];
  if (others.length > 0 && dialect.ambiguousForce === 'META0017') {
    throw new EngineError(
      'META0017',
      `several deployments have the destination of '${request.uri}'; remove all but one first`,
    );
  }
  return newest;
}

function newRevisions(
  schema: Schema,
  services: readonly DiscoveredService[],
  request: RegistrationRequest,
): ServiceSchema[] {
  const newest = newestRevisions(schema);
  return services.map((service) => {
    const active = newest.get(service.name);
    if (active !== undefined && active.type !== service.type) {
      if (!request.force && !request.breaking) {
        throw new EngineError(
          'META0006',
          `service '${service.name}' would change its type from ${active.type} to ${service.type}`,
        );
      }
    }
    return { ...service, revision: (active?.revision ?? 0) + 1 };
  });
}
