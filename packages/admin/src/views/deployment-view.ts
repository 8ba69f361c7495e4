/** A deployment in answers (interface §2.1). */

import type { Deployment, ProtocolMode } from '@engine/domain';
import { ifAny } from './handler-view.js';
import { deploymentInfo } from './schema-info.js';
import { serviceView } from './service-view.js';
import { timestampText, type ViewOptions } from './texts.js';

const PROTOCOL_TYPES: Readonly<Record<ProtocolMode, string>> = {
  'bidi-stream': 'BidiStream',
  'request-response': 'RequestResponse',
};

/** As in lists: services by name and revision. */
export function deploymentListView(deployment: Deployment): Record<string, unknown> {
  return {
    ...commonView(deployment),
    services: deployment.services.map(({ name, revision }) => ({ name, revision })),
  };
}

/** One deployment with its services as it serves them. */
export function deploymentView(
  deployment: Deployment,
  options: ViewOptions,
): Record<string, unknown> {
  return { ...commonView(deployment), services: servicesView(deployment, options) };
}

/** Answer to a registration. */
export function registrationView(
  deployment: Deployment,
  options: ViewOptions,
): Record<string, unknown> {
  return {
    id: deployment.id,
    services: servicesView(deployment, options),
    min_protocol_version: deployment.minProtocolVersion,
    max_protocol_version: deployment.maxProtocolVersion,
    sdk_version: deployment.sdkVersion,
    info: ifAny(deploymentInfo(deployment)),
  };
}

function commonView(deployment: Deployment): Record<string, unknown> {
  return {
    id: deployment.id,
    ...endpointView(deployment),
    additional_headers: ifAny(deployment.additionalHeaders),
    metadata: ifAny(deployment.metadata),
    created_at: timestampText(deployment.createdAt),
    min_protocol_version: deployment.minProtocolVersion,
    max_protocol_version: deployment.maxProtocolVersion,
    sdk_version: deployment.sdkVersion,
    info: ifAny(deploymentInfo(deployment)),
  };
}

function endpointView({ endpoint, protocolMode }: Deployment): Record<string, unknown> {
  switch (endpoint.kind) {
    case 'http':
      return {
        uri: endpoint.uri,
        protocol_type: PROTOCOL_TYPES[protocolMode],
        http_version: endpoint.httpVersion,
      };
    case 'lambda':
      return {
        arn: endpoint.arn,
        assume_role_arn: endpoint.assumeRoleArn,
        compression: endpoint.compression === undefined ? undefined : 'Zstd',
      };
  }
}

function servicesView(deployment: Deployment, options: ViewOptions): Record<string, unknown>[] {
  return deployment.services.map((service) => serviceView(service, deployment, options));
}
