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
import { deploymentsAt, destinationText, type DeploymentIdentity } from './same-deployment.js';
import { newestRevisions, withDeployment } from './schema-change.js';

export interface RegistrationRequest extends DeploymentIdentity {
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

/** What decides beside the request. */
export interface RegistrationRules {
  readonly dialect: Dialect;
  /** Names, in lower case, of headers that tell deployments with one address apart. */
  readonly routingHeaders: readonly string[];
}

/**
 * The deployment that a request without force would repeat. Errors: META0004 or `conflict`, as the dialect wants it.
 */
export function knownDeployment(
  schema: Schema,
  request: RegistrationRequest,
  { dialect, routingHeaders }: RegistrationRules,
): Deployment | undefined {
  const [known] = request.force ? [] : deploymentsAt(schema, request, routingHeaders);
  if (known === undefined || dialect.duplicate === 'known') return known;
  throw new EngineError(
    dialect.duplicate,
    `deployment '${known.id}' is already registered at '${destinationText(request.destination)}'; ` +
      'give new code an address of its own, or force to replace the deployment',
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
    readonly rules: RegistrationRules;
    readonly fresh: { readonly id: DeploymentId; readonly now: number };
  },
): Registration {
  const known = knownDeployment(schema, request, options.rules);
  if (known !== undefined) return { schema, deployment: known, outcome: 'known' };
  const { endpoint, fresh } = options;
  const replaced = replacedDeployment(schema, request, options.rules);
  const deployment: Deployment = {
    id: replaced?.id ?? fresh.id,
    endpoint: endpoint.endpoint,
    protocolMode: endpoint.discovery.protocolMode,
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
  { dialect, routingHeaders }: RegistrationRules,
): Deployment | undefined {
  const [newest, ...others] = request.force ? deploymentsAt(schema, request, routingHeaders) : [];
  if (others.length > 0 && dialect.ambiguousForce === 'META0017') {
    throw new EngineError(
      'META0017',
      `${sharing([newest, ...others])} share '${destinationText(request.destination)}'; remove all but one first`,
    );
  }
  return newest;
}

function sharing(deployments: readonly (Deployment | undefined)[]): string {
  return `deployments ${deployments.map((each) => `'${each?.id ?? ''}'`).join(', ')}`;
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
