/** The request that opens an attempt: path and headers as SDKs expect them (interface §7). */

import type { Invocation, InvocationId } from '@engine/domain';
import { encodeKeyHeader, invocationContentType, invokeSuffix } from '@engine/service-protocol';

import type { Route } from './choose-deployment.js';
import type { ExchangeRequest } from './deployment-transport.js';

export function attemptRequest(
  id: InvocationId,
  to: { readonly row: Invocation; readonly route: Route },
  clusterName: string,
): ExchangeRequest {
  const { target } = to.row;
  const { deployment, pin } = to.route;
  const contentType = invocationContentType(pin.protocolVersion);
  const headers: Record<string, string> = {
    'content-type': contentType,
    accept: contentType,
    'x-restate-invocation-id': id,
  };
  if (target.key !== undefined) headers['x-restate-service-key'] = encodeKeyHeader(target.key);
  Object.assign(headers, deployment.additionalHeaders);
  headers['x-restate-cluster-name'] = clusterName;
  const path = `/${invokeSuffix(target.service, target.handler)}`;
  return { deployment, path, serviceKey: target.key, headers };
}
