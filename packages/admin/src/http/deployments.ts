/** Deployments: register, list, get, update in place, remove. */

import { deploymentIdFromUlid, EngineError, type Deployment, type Schema } from '@engine/domain';
import type { Request, Response } from 'express';
import type { AdminContext } from '../context.js';
import {
  knownDeployment,
  register,
  type Registration,
  type RegistrationRequest,
  type RegistrationRules,
} from '../deployments/registration.js';
import { unfinishedInvocation } from '../deployments/removal.js';
import { requireDeployment, withoutDeployment } from '../deployments/schema-change.js';
import { update } from '../deployments/update.js';
import type { Dialect } from '../dialect.js';
import { deploymentChanged } from '../events.js';
import { deploymentListView, deploymentView, registrationView } from '../views/deployment-view.js';
import {
  registrationBody,
  updateBody,
  type RegistrationBody,
  type UpdateBody,
} from './deployment-bodies.js';
import { registrationRequest, updateRequest } from './deployment-requests.js';
import { pathDeploymentId, queryBoolean, readBody } from './request.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';

const COLLECTION = '/deployments';
const ONE = '/deployments/:deployment';

export function deploymentRoutes(context: AdminContext, dialect: Dialect): Route[] {
  const routes = new DeploymentRoutes(context, dialect);
  return [
    { method: 'get', path: COLLECTION, handle: routes.list },
    { method: 'post', path: COLLECTION, handle: routes.post },
    { method: 'get', path: ONE, handle: routes.get },
    { method: 'patch', path: ONE, handle: routes.patch },
    ...(dialect.servesPutDeployment
      ? [{ method: 'put', path: ONE, handle: routes.patch } as const]
      : []),
    { method: 'delete', path: ONE, handle: routes.delete },
  ];
}

class DeploymentRoutes {
  readonly #context: AdminContext;
  readonly #dialect: Dialect;

  constructor(context: AdminContext, dialect: Dialect) {
    this.#context = context;
    this.#dialect = dialect;
  }

  readonly list = (_request: Request, response: Response): void => {
    sendJson(response, { deployments: this.#schema().deployments.map(deploymentListView) });
  };

  readonly get = (request: Request, response: Response): void => {
    const deployment = requireDeployment(this.#schema(), pathDeploymentId(request));
    sendJson(response, deploymentView(deployment, this.#viewOptions()));
  };

  readonly post = async (request: Request, response: Response): Promise<void> => {
    const body = readBody(request, registrationBody);
    const registration = await this.#register(registrationRequest(body, this.#dialect), body);
    const status = { created: 201, overwritten: this.#dialect.overwriteStatus, known: 200 };
    const { deployment } = registration;
    response.status(status[registration.outcome]).location(`deployments/${deployment.id}`);
    sendJson(response, registrationView(deployment, this.#viewOptions()));
  };

  readonly patch = async (request: Request, response: Response): Promise<void> => {
    const id = pathDeploymentId(request);
    const body = readBody(request, updateBody);
    const before = requireDeployment(this.#schema(), id);
    const deployment = await this.#update(before, body);
    sendJson(response, deploymentView(deployment, this.#viewOptions()));
  };

  readonly delete = async (request: Request, response: Response): Promise<void> => {
    const id = pathDeploymentId(request);
    const force = queryBoolean(request, 'force') ?? false;
    if (!force && !this.#dialect.removesWithoutForce) {
      response.status(501).end();
      return;
    }
    const deployment = requireDeployment(this.#schema(), id);
    if (!force) await this.#requireUnused(deployment);
    await this.#context.schemas.update((schema) => withoutDeployment(schema, id));
    deploymentChanged('removed', deployment);
    response.status(202).end();
  };

  async #register(request: RegistrationRequest, body: RegistrationBody): Promise<Registration> {
    const { schemas, discover, clock, newUlid } = this.#context;
    const rules = this.#rules();
    const known = knownDeployment(this.#schema(), request, rules);
    if (known !== undefined) {
      return { schema: this.#schema(), deployment: known, outcome: 'known' };
    }
    const endpoint = await discover(request);
    const fresh = { id: deploymentIdFromUlid(newUlid()), now: clock.now() };
    const options = { endpoint, rules, fresh };
    let registration = register(this.#schema(), request, options);
    if (body.dry_run) return registration;
    await schemas.update((schema) => {
      registration = register(schema, request, options);
      return registration.schema;
    });
    if (registration.outcome !== 'known') {
      deploymentChanged(registration.outcome, registration.deployment);
    }
    return registration;
  }

  async #update(before: Deployment, body: UpdateBody): Promise<Deployment> {
    const { schemas, discover } = this.#context;
    const request = updateRequest(before, body, this.#dialect);
    if (request === undefined) return before;
    const endpoint = await discover(request);
    let updated = update(this.#schema(), request, endpoint);
    if (body.dry_run) return updated.deployment;
    await schemas.update((schema) => {
      updated = update(schema, request, endpoint);
      return updated.schema;
    });
    deploymentChanged('updated', updated.deployment);
    return updated.deployment;
  }

  async #requireUnused(deployment: Deployment): Promise<void> {
    const invocationId = await unfinishedInvocation(this.#context.invocations, deployment.id);
    if (invocationId === undefined) return;
    throw new EngineError(
      'conflict',
      `invocation '${invocationId}' has to go on at this deployment; force=true removes it all the same`,
    );
  }

  #rules(): RegistrationRules {
    const { deploymentRoutingHeaders } = this.#context.config;
    return { dialect: this.#dialect, routingHeaders: deploymentRoutingHeaders };
  }

  #schema(): Schema {
    return this.#context.schemas.current.schema;
  }

  #viewOptions(): Parameters<typeof deploymentView>[1] {
    return {
      defaults: this.#context.config.handlerDefaults,
      wording: this.#dialect.wording,
    };
  }
}
