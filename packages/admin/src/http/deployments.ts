/** Deployments: register, list, get, update in place, remove. */

import { deploymentIdFromUlid, EngineError, type Deployment, type Schema } from '@engine/domain';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { AdminContext } from '../context.js';
import {
  knownDeployment,
  register,
  type Registration,
  type RegistrationRequest,
} from '../deployments/registration.js';
import { unfinishedInvocation } from '../deployments/removal.js';
import { requireDeployment, withoutDeployment } from '../deployments/schema-change.js';
import { update, type UpdateRequest } from '../deployments/update.js';
import type { Dialect } from '../dialect.js';
import { normalizeUri } from '../discovery/endpoint.js';
import { deploymentChanged } from '../events.js';
import { deploymentListView, deploymentView, registrationView } from '../views/deployment-view.js';
import { isQualifiedArn, registrationBody, updateBody } from './deployment-bodies.js';
import { HttpProblem } from './problem.js';
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
    { method: 'patch', path: ONE, handle: (request, response) => routes.patch(request, response) },
    ...(dialect.putDeployment === 'none'
      ? []
      : [{ method: 'put', path: ONE, handle: routes.put } as const]),
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

  readonly put = async (request: Request, response: Response): Promise<void> => {
    await this.patch(request, response, this.#dialect.putDeployment === 'similar');
  };

  async patch(request: Request, response: Response, mustBeSimilar = false): Promise<void> {
    const id = pathDeploymentId(request);
    const body = readBody(request, updateBody);
    const before = requireDeployment(this.#schema(), id);
    const deployment = await this.#update(before, body, mustBeSimilar);
    sendJson(response, deploymentView(deployment, this.#viewOptions()));
  }

  readonly delete = async (request: Request, response: Response): Promise<void> => {
    const id = pathDeploymentId(request);
    const force = queryBoolean(request, 'force') ?? false;
    if (!force && !this.#dialect.removesWithoutForce) {
      throw new HttpProblem(501, 'a deployment can only be removed with force=true');
    }
    const deployment = requireDeployment(this.#schema(), id);
    if (!force) await this.#requireUnused(deployment);
    await this.#context.schemas.update((schema) => withoutDeployment(schema, id));
    deploymentChanged('removed', deployment);
    response.status(202).end();
  };

  async #register(
    request: RegistrationRequest,
    body: z.output<typeof registrationBody>,
  ): Promise<Registration> {
    const { schemas, discover, clock, newUlid } = this.#context;
    const dialect = this.#dialect;
    const known = knownDeployment(this.#schema(), request, dialect);
    if (known !== undefined) {
      return { schema: this.#schema(), deployment: known, outcome: 'known' };
    }
    const endpoint = await discover({ ...request, useHttp11: body.use_http_11 });
    const fresh = { id: deploymentIdFromUlid(newUlid()), now: clock.now() };
    const options = { endpoint, dialect, fresh };
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

  async #update(
    before: Deployment,
    body: z.output<typeof updateBody>,
    mustBeSimilar: boolean,
  ): Promise<Deployment> {
    const { schemas, discover } = this.#context;
    const request = updateRequest(before, body, mustBeSimilar);
    if (request === undefined) return before;
    const useHttp11 = body.use_http_11 ?? before.httpVersion === 'HTTP/1.1';
    const endpoint = await discover({ ...request, useHttp11 });
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

/** Errors: `bad-request` for a bad destination, 422 without one, 501 for functions. */
function registrationRequest(
  body: z.output<typeof registrationBody>,
  dialect: Dialect,
): RegistrationRequest {
  return {
    uri: requireUri(body),
    additionalHeaders: body.additional_headers ?? {},
    metadata: body.metadata ?? {},
    force: body.force ?? dialect.forceIsDefault,
    breaking: body.breaking,
  };
}

/** Undefined when nothing would change. */
function updateRequest(
  before: Deployment,
  body: z.output<typeof updateBody>,
  mustBeSimilar: boolean,
): UpdateRequest | undefined {
  const hasAddress = typeof body.uri === 'string' || typeof body.arn === 'string';
  const headers = body.additional_headers ?? undefined;
  if (!hasAddress && headers === undefined && typeof body.use_http_11 !== 'boolean') {
    return undefined;
  }
  return {
    id: before.id,
    uri: hasAddress ? requireUri(body) : before.uri,
    additionalHeaders: headers ?? before.additionalHeaders,
    overwrite: body.overwrite,
    mustBeSimilar,
  };
}

function requireUri(body: {
  readonly uri?: string | null | undefined;
  readonly arn?: string | null | undefined;
}): string {
  if (typeof body.uri === 'string') return normalizeUri(body.uri);
  if (typeof body.arn !== 'string') throw new HttpProblem(422, "the body has no 'uri'");
  if (!isQualifiedArn(body.arn)) {
    throw new EngineError('bad-request', `bad field 'arn': '${body.arn}' names no version`);
  }
  throw new HttpProblem(501, 'functions cannot be registered with this server');
}
