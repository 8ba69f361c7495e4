/** Services and their handlers, as the newest revision has them. */

import { EngineError, type ResolvedService } from '@engine/domain';
import type { Request } from 'express';
import type { AdminContext } from '../context.js';
import type { Dialect } from '../dialect.js';
import { handlerView } from '../views/handler-view.js';
import { serviceOpenapi } from '../views/service-openapi.js';
import { serviceView } from '../views/service-view.js';
import { pathText } from './request.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';

export function serviceRoutes(context: AdminContext, { wording }: Dialect): Route[] {
  const options = { defaults: context.config.handlerDefaults, wording };
  const found = (request: Request): ResolvedService => {
    const name = pathText(request, 'service');
    const service = context.schemas.current.service(name);
    if (service === undefined) throw new EngineError('not-found', `unknown service '${name}'`);
    return service;
  };
  return [
    {
      method: 'get',
      path: '/services',
      handle: (_request, response) => {
        const services = [...context.schemas.current.services()];
        sendJson(response, {
          services: services.map(({ service, deployment }) =>
            serviceView(service, deployment, options),
          ),
        });
      },
    },
    {
      method: 'get',
      path: '/services/:service',
      handle: (request, response) => {
        const { service, deployment } = found(request);
        sendJson(response, serviceView(service, deployment, options));
      },
    },
    {
      method: 'get',
      path: '/services/:service/openapi',
      handle: (request, response) => {
        const { service } = found(request);
        sendJson(response, serviceOpenapi(service, context.config.ingressEndpoint));
      },
    },
    {
      method: 'get',
      path: '/services/:service/handlers',
      handle: (request, response) => {
        const place = found(request);
        const handlers = place.service.handlers.map((each) => handlerView(each, place, wording));
        sendJson(response, { handlers });
      },
    },
    {
      method: 'get',
      path: '/services/:service/handlers/:handler',
      handle: (request, response) => {
        const place = found(request);
        const name = pathText(request, 'handler');
        const handler = place.service.handlers.find((each) => each.name === name);
        if (handler === undefined) {
          const text = `service '${place.service.name}' has no handler '${name}'`;
          throw new EngineError('not-found', text);
        }
        sendJson(response, handlerView(handler, place, wording));
      },
    },
  ];
}
