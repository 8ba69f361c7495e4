/** Update of a deployment in place: the rules. Pure. */

import { isDeepStrictEqual } from 'node:util';
import { EngineError, type Deployment, type Schema, type ServiceSchema } from '@engine/domain';
import type { DiscoveredService, Discovery } from '@engine/service-protocol';
import type { Destination, DiscoveredEndpoint } from '../discovery/discover.js';
import { requireDeployment, withDeployment } from './schema-change.js';

export interface UpdateRequest {
  /** What is updated, as it was when its endpoint was asked. */
  readonly before: Deployment;
  /** Where it is reached from now on, perhaps in another way than before. */
  readonly destination: Destination;
  readonly additionalHeaders: Readonly<Record<string, string>>;
  /** Take over the services that the endpoint announces; else only how it is reached changes. */
  readonly overwrite: boolean;
  /**
   * Insist that services keep their type and that no service or handler is missing (interface §9.4); else only the protocol
   * versions have to be the same.
   */
  readonly mustBeSimilar: boolean;
}

export interface Update {
  readonly schema: Schema;
  readonly deployment: Deployment;
}

/**
 * What an update makes of the document. Errors: META0016, `not-found`; `conflict` when another update has moved the deployment
 * since, or changed its headers: this one knows nothing of that and would undo it.
 */
export function update(
  schema: Schema,
  request: UpdateRequest,
  endpoint: DiscoveredEndpoint,
): Update {
  const before = requireDeployment(schema, request.before.id);
  checkUnmoved(before, request.before);
  const { discovery } = endpoint;
  checkVersions(before, discovery);
  if (request.mustBeSimilar) {
    for (const service of before.services) checkSimilar(service, discovery.services);
  }
  const deployment: Deployment = {
    ...before,
    endpoint: endpoint.endpoint,
    additionalHeaders: request.additionalHeaders,
    protocolMode: discovery.protocolMode,
    sdkVersion: discovery.sdkVersion,
    services: request.overwrite ? replaceServices(before, discovery.services) : before.services,
  };
  return { schema: withDeployment(schema, deployment), deployment };
}

/** Services keep their revision; new ones start at 1. */
function replaceServices(
  before: Deployment,
  services: readonly DiscoveredService[],
): ServiceSchema[] {
  const revisions = new Map(before.services.map(({ name, revision }) => [name, revision]));
  return services.map((service) => ({ ...service, revision: revisions.get(service.name) ?? 1 }));
}

function checkUnmoved(now: Deployment, before: Deployment): void {
  const isSame =
    isDeepStrictEqual(now.endpoint, before.endpoint) &&
    isDeepStrictEqual(now.additionalHeaders, before.additionalHeaders);
  if (isSame) return;
  throw new EngineError('conflict', `deployment '${now.id}' was changed meanwhile; try again`);
}

function checkVersions(before: Deployment, discovery: Discovery): void {
  const isSame =
    before.minProtocolVersion === discovery.minProtocolVersion &&
    before.maxProtocolVersion === discovery.maxProtocolVersion;
  if (!isSame) throw unlike('it supports other protocol versions');
}

function checkSimilar(service: ServiceSchema, services: readonly DiscoveredService[]): void {
  const now = services.find(({ name }) => name === service.name);
  if (now === undefined) throw unlike(`service '${service.name}' is missing`);
  if (now.type !== service.type) throw unlike(`service '${service.name}' changed its type`);
  const names = new Set(now.handlers.map(({ name }) => name));
  const missing = service.handlers.find(({ name }) => !names.has(name));
  if (missing !== undefined) {
    throw unlike(`handler '${service.name}/${missing.name}' is missing`);
  }
}

function unlike(reason: string): EngineError {
  return new EngineError('META0016', `the endpoint is not similar enough: ${reason}`);
}
