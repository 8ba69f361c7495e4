/** Operations on many invocations, as work of the server: begin, list, look at, abort. */

import { EngineError } from '@engine/domain';
import type { Request, Response } from 'express';
import type { AdminContext } from '../context.js';
import type { Operation } from '../invocation-operations.js';
import { BATCH_LISTED_DEFAULT, BATCH_KEPT_MAX } from '../limits.js';
import { batchOperationView } from '../views/batch-operation-view.js';
import { batchOperationBody, batchRequest } from './batch-operation-bodies.js';
import { pathText, queryText, queryUnsigned, readBody } from './request.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';

const COLLECTION = '/batch-operations';
const ONE = '/batch-operations/:batch';

export function batchOperationRoutes(context: AdminContext): Route[] {
  const routes = new BatchOperationRoutes(context);
  return [
    { method: 'get', path: COLLECTION, handle: routes.list },
    { method: 'post', path: COLLECTION, handle: routes.post },
    { method: 'get', path: ONE, handle: routes.get },
    { method: 'patch', path: `${ONE}/abort`, handle: routes.abort },
  ];
}

class BatchOperationRoutes {
  readonly #context: AdminContext;

  constructor(context: AdminContext) {
    this.#context = context;
  }

  /** Newest first. `cursor`: the id behind which the page begins, as the page before named it. */
  readonly list = (request: Request, response: Response): void => {
    const limit = Math.min(queryUnsigned(request, 'limit') ?? BATCH_LISTED_DEFAULT, BATCH_KEPT_MAX);
    if (limit === 0) throw new EngineError('bad-request', "query parameter 'limit' must be over 0");
    const cursor = queryText(request, 'cursor');
    const behind = this.#context.batches
      .list()
      .filter(({ id }) => cursor === undefined || id < cursor);
    const page = behind.slice(0, limit);
    const next = behind.length > page.length ? page.at(-1)?.id : undefined;
    sendJson(response, {
      batch_operations: page.map(batchOperationView),
      next_cursor: next ?? null,
    });
  };

  readonly post = async (request: Request, response: Response): Promise<void> => {
    const wanted = batchRequest(readBody(request, batchOperationBody));
    this.#requireDeployment(wanted.operation);
    const batch = await this.#context.batches.begin(wanted);
    response.status(202).location(`batch-operations/${batch.id}`);
    sendJson(response, batchOperationView(batch));
  };

  readonly get = (request: Request, response: Response): void => {
    sendJson(response, batchOperationView(this.#context.batches.require(batchId(request))));
  };

  /** 202 while it still has to end, 200 when it was aborted before. */
  readonly abort = async (request: Request, response: Response): Promise<void> => {
    const batch = await this.#context.batches.abort(batchId(request));
    if (batch.status === 'completed' || batch.status === 'failed') {
      throw new EngineError('conflict', `batch operation '${batch.id}' has ended already`);
    }
    response.status(batch.status === 'running' ? 202 : 200);
    sendJson(response, batchOperationView(batch));
  };

  /** Every single invocation would fail with it. */
  #requireDeployment(operation: Operation): void {
    if (!('deployment' in operation) || operation.deployment.kind !== 'fixed') return;
    const { deploymentId } = operation.deployment;
    const { deployments } = this.#context.schemas.current.schema;
    if (deployments.some(({ id }) => id === deploymentId)) return;
    throw new EngineError('bad-request', `unknown deployment '${deploymentId}'`);
  }
}

function batchId(request: Request): string {
  return pathText(request, 'batch');
}
