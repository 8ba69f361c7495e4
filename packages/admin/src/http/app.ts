/** The express application: all routes, for the paths without a version and for each version. */

import compression from 'compression';
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
import { REQUEST_BODY_BYTES_MAX } from '../limits.js';
import { deploymentRoutes } from './deployments.js';
import { invocationRoutes } from './invocations.js';
import { HttpProblem, problemAnswer } from './problem.js';
import { queryRoutes } from './query.js';
import { addRoutes } from './routes.js';
import { sendJson } from './send-json.js';
import { serverRoutes } from './server-routes.js';
import { serviceRoutes } from './services.js';

export function createApp(context: AdminContext): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(compression());
  app.use(express.raw({ type: () => true, limit: REQUEST_BODY_BYTES_MAX }));
  for (const { version, dialect } of VERSIONS) {
    app.use(`/v${String(version)}`, createRouter(context, dialect));
  }
  app.use('/v1', unsupportedVersion);
  app.use(createRouter(context, INTERFACE));
  app.use(unknownPath);
  app.use(failed);
  return app;
}

function createRouter(context: AdminContext, dialect: Dialect): Router {
  const router = Router({ strict: true, caseSensitive: true });
  addRoutes(router, [
    ...serverRoutes(context),
    ...deploymentRoutes(context, dialect),
    ...serviceRoutes(context, dialect),
    ...invocationRoutes(context),
    ...queryRoutes(context),
  ]);
  return router;
}

const unsupportedVersion: RequestHandler = () => {
  const range = `V${String(API_VERSION_MIN)} to V${String(API_VERSION_MAX)}`;
  throw new HttpProblem(400, `this version of the admin API is not supported; ${range} are`);
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
