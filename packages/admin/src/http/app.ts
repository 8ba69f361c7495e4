/** The express application: all routes, for the paths without a version and for each version. */

import express, {
  Router,
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
} from 'express';
import type { AdminContext } from '../context.js';
import { API_VERSION_MAX, API_VERSION_MIN, INTERFACE, VERSIONS, type Dialect } from '../dialect.js';
import { requestFailed } from '../events.js';
import { batchOperationRoutes } from './batch-operations.js';
import { clusterRoutes } from './cluster.js';
import { deploymentRoutes } from './deployments.js';
import { invocationBatchRoutes } from './invocation-batches.js';
import { invocationRoutes } from './invocations.js';
import type { RequestListeners } from './listener.js';
import { onHttp2 } from './on-http2.js';
import { openapiRoute } from './openapi.js';
import { HttpProblem, problemAnswer } from './problem.js';
import { queryRoutes } from './query.js';
import { limitRequests } from './request-limit.js';
import { addRoutes, type Route } from './routes.js';
import { sendJson } from './send-json.js';
import { serdesRoutes } from './serdes.js';
import { serverRoutes } from './server-routes.js';
import { stateRoutes } from './service-state.js';
import { serviceRoutes } from './services.js';

/** One application for each version of HTTP, with one limit. */
export function createApps(context: AdminContext): RequestListeners {
  const limit = limitRequests(context.config.concurrentRequestsMax);
  return { http1: createApp(context, limit), http2: onHttp2(createApp(context, limit)) };
}

function createApp(context: AdminContext, limit: RequestHandler): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(limit);
  for (const { version, dialect } of VERSIONS) {
    app.use(`/v${String(version)}`, createRouter(context, dialect), unknownVersionedPath);
  }
  app.use('/v1', unsupportedVersion);
  app.use(createRouter(context, INTERFACE));
  app.use(unknownPath);
  app.use(failed);
  return app;
}

/** Everything that is served in a dialect, the description of it included. */
export function routesOf(context: AdminContext, dialect: Dialect): Route[] {
  const routes = [
    ...serverRoutes(context),
    ...clusterRoutes(context),
    ...deploymentRoutes(context, dialect),
    ...serviceRoutes(context, dialect),
    ...stateRoutes(context),
    ...serdesRoutes(context),
    ...invocationRoutes(context),
    ...invocationBatchRoutes(context),
    ...batchOperationRoutes(context),
    ...queryRoutes(context),
  ];
  return [...routes, openapiRoute(routes)];
}

function createRouter(context: AdminContext, dialect: Dialect): Router {
  const router = Router({ strict: true, caseSensitive: true });
  addRoutes(router, routesOf(context, dialect));
  return router;
}

const unsupportedVersion: RequestHandler = () => {
  const range = `V${String(API_VERSION_MIN)} to V${String(API_VERSION_MAX)}`;
  throw new HttpProblem(400, `this version of the admin API is not supported; ${range} are`);
};

const unknownVersionedPath: RequestHandler = (_request, response) => {
  response.status(404).end();
};

const unknownPath: RequestHandler = (request) => {
  throw new HttpProblem(404, `nothing is at '${request.path}'`);
};

// Express tells an error handler by its four parameters.
const failed: ErrorRequestHandler = (error: unknown, request: Request, response, _next) => {
  const { status, headers, body } = problemAnswer(error);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (status === 500) requestFailed(request.path, error);
  response.status(status).set(headers);
  sendJson(response, body);
};
