/** Services and their handlers, as the newest revision has them. */

import { EngineError, type ResolvedService } from '@engine/domain';
import type { Request, Response } from 'express';
import type { AdminContext } from '../context.js';
import { modifyService, type ServiceChanges } from '../deployments/modification.js';
import type { Dialect } from '../dialect.js';
import { serviceModified } from '../events.js';
import { handlerView } from '../views/handler-view.js';
import { serviceOpenapi } from '../views/service-openapi.js';
import { serviceView } from '../views/service-view.js';
import type { ViewOptions } from '../views/texts.js';
import { pathText, readBody } from './request.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';
import { modificationBody, type ModificationBody } from './service-bodies.js';

const ONE = '/services/:service';

export function serviceRoutes(context: AdminContext, dialect: Dialect): Route[] {
  const routes = new ServiceRoutes(context, dialect);
  return [
    { method: 'get', path: '/services', handle: routes.list },
    { method: 'get', path: ONE, handle: routes.get },
    { method: 'patch', path: ONE, handle: routes.patch },
    { method: 'get', path: `${ONE}/openapi`, handle: routes.openapi },
    { method: 'get', path: `${ONE}/handlers`, handle: routes.handlers },
    { method: 'get', path: `${ONE}/handlers/:handler`, handle: routes.handler },
  ];
}

class ServiceRoutes {
  readonly #context: AdminContext;
  readonly #options: ViewOptions;

  constructor(context: AdminContext, { wording }: Dialect) {
    this.#context = context;
    this.#options = { defaults: context.config.handlerDefaults, wording };
  }

  readonly list = (_request: Request, response: Response): void => {
    const services = [...this.#context.schemas.current.services()];
    sendJson(response, { services: services.map((place) => this.#view(place)) });
  };

  readonly get = (request: Request, response: Response): void => {
    sendJson(response, this.#view(this.#found(request)));
  };

  readonly patch = async (request: Request, response: Response): Promise<void> => {
    const name = pathText(request, 'service');
    const changes = serviceChanges(readBody(request, modificationBody));
    const before = this.#context.schemas.current;
    const after = await this.#context.schemas.update((schema) =>
      modifyService(schema, name, changes),
    );
    if (after !== before) serviceModified(name, changes);
    sendJson(response, this.#view(this.#found(request)));
  };

  readonly openapi = (request: Request, response: Response): void => {
    const { service } = this.#found(request);
    sendJson(response, serviceOpenapi(service, this.#context.config.ingressEndpoint));
  };

  readonly handlers = (request: Request, response: Response): void => {
    const place = this.#found(request);
    const options = this.#options;
    const handlers = place.service.handlers.map((each) => handlerView(each, place, options));
    sendJson(response, { handlers });
  };

  readonly handler = (request: Request, response: Response): void => {
    const place = this.#found(request);
    const name = pathText(request, 'handler');
    const handler = place.service.handlers.find((each) => each.name === name);
    if (handler === undefined) {
      const text = `service '${place.service.name}' has no handler '${name}'`;
      throw new EngineError('not-found', text);
    }
    sendJson(response, handlerView(handler, place, this.#options));
  };

  /** Errors: `not-found`. */
  #found(request: Request): ResolvedService {
    const name = pathText(request, 'service');
    const service = this.#context.schemas.current.service(name);
    if (service === undefined) throw new EngineError('not-found', `unknown service '${name}'`);
    return service;
  }

  #view({ service, deployment }: ResolvedService): Record<string, unknown> {
    return serviceView(service, deployment, this.#options);
  }
}

function serviceChanges(body: ModificationBody): ServiceChanges {
  return {
    public: body.public ?? undefined,
    idempotencyRetentionMs: body.idempotency_retention ?? undefined,
    workflowCompletionRetentionMs: body.workflow_completion_retention ?? undefined,
    journalRetentionMs: body.journal_retention ?? undefined,
    inactivityTimeoutMs: body.inactivity_timeout ?? undefined,
    abortTimeoutMs: body.abort_timeout ?? undefined,
  };
}
