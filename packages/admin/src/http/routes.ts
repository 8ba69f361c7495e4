import type { Request, RequestHandler, Response, Router } from 'express';
import { REQUEST_BODY_BYTES_MAX } from '../limits.js';
import { HttpProblem } from './problem.js';
import { receiveBody } from './receive-body.js';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** One line of the route table. A handler that throws is answered with the error body. */
export interface Route {
  readonly method: Method;
  /** Express path, e.g. `/deployments/:deployment`. */
  readonly path: string;
  /** Largest body; undefined = REQUEST_BODY_BYTES_MAX. */
  readonly bodyBytesMax?: number;
  /** `request.body` is a Uint8Array, except for GET. */
  readonly handle: (request: Request, response: Response) => void | Promise<void>;
}

/** Adds routes to a router; any other method on their paths is refused with 405 and what is allowed. */
export function addRoutes(router: Router, routes: readonly Route[]): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const group = routes.filter((route) => route.path === path);
    const route = router.route(path);
    for (const { method, handle, bodyBytesMax } of group) {
      if (method !== 'get') route[method](bodyReader(bodyBytesMax ?? REQUEST_BODY_BYTES_MAX));
      route[method](handle as RequestHandler);
    }
    const allow = group.map(({ method }) => (method === 'get' ? 'GET,HEAD' : method.toUpperCase()));
    route.all((request) => {
      throw new HttpProblem(405, `${request.method} is not possible here`, {
        allow: allow.join(','),
      });
    });
  }
}

function bodyReader(bytesMax: number): RequestHandler {
  return async (request, _response, next) => {
    request.body = await receiveBody(request, bytesMax);
    next();
  };
}
