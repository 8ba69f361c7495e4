/** A deployment in answers (interface §2.1). */

import type { Deployment, ProtocolMode } from '@engine/domain';
import { ifAny } from './handler-view.js';
import { serviceView, type ViewOptions } from './service-view.js';
import { timestampText } from './texts.js';

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
  };
}

function commonView(deployment: Deployment): Record<string, unknown> {
  return {
    id: deployment.id,
    uri: deployment.uri,
    protocol_type: PROTOCOL_TYPES[deployment.protocolMode],
    http_version: deployment.httpVersion,
    additional_headers: ifAny(deployment.additionalHeaders),
    metadata: ifAny(deployment.metadata),
    created_at: timestampText(deployment.createdAt),
    min_protocol_version: deployment.minProtocolVersion,
    max_protocol_version: deployment.maxProtocolVersion,
    sdk_version: deployment.sdkVersion,
  };
}

function servicesView(deployment: Deployment, options: ViewOptions): Record<string, unknown>[] {
  return deployment.services.map((service) => serviceView(service, deployment, options));
}
