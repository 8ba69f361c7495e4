/** Payloads as their deployment reads and writes them, for people who look at journals. */

import { EngineError, type Deployment } from '@engine/domain';
import type { Request } from 'express';
import type { AdminContext } from '../context.js';
import { requireDeployment } from '../deployments/schema-change.js';
import type { Direction } from '../serdes/convert.js';
import { sendBytes } from './compression.js';
import { pathText, queryText, requireDeploymentId } from './request.js';
import type { Route } from './routes.js';

export function serdesRoutes(context: AdminContext): Route[] {
  return [
    {
      method: 'post',
      path: '/internal/services/:service/serdes/decode/*name',
      handle: async (request, response) => {
        response.setHeader('content-type', 'application/json');
        sendBytes(response, await convert(context, 'decode', request));
      },
    },
    {
      method: 'post',
      path: '/internal/services/:service/serdes/encode/*name',
      handle: async (request, response) => {
        response.setHeader('content-type', 'application/octet-stream');
        sendBytes(response, await convert(context, 'encode', request));
      },
    },
  ];
}

function convert(
  context: AdminContext,
  direction: Direction,
  request: Request,
): Promise<Uint8Array> {
  const service = pathText(request, 'service');
  const deployment = deploymentOf(context, service, request);
  const payload = request.body as Uint8Array;
  return context.convert(deployment, { service, direction, name: serdeName(request), payload });
}

/** The one that is asked for, else the newest of the service. Errors: `not-found`, `bad-request`. */
function deploymentOf({ schemas }: AdminContext, service: string, request: Request): Deployment {
  const asked = queryText(request, 'deployment');
  if (asked !== undefined) {
    return requireDeployment(schemas.current.schema, requireDeploymentId(asked));
  }
  const newest = schemas.current.service(service);
  if (newest === undefined) throw new EngineError('not-found', `unknown service '${service}'`);
  return newest.deployment;
}

function serdeName(request: Request): string {
  const segments: unknown = request.params['name'];
  return Array.isArray(segments) ? segments.join('/') : String(segments);
}
