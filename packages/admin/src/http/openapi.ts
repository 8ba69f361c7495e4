/** The description of the admin. */

import { adminOpenapi } from '../openapi/document.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';
import { INTERFACE_VERSION } from './server-routes.js';

/** `routes`: all others. */
export function openapiRoute(routes: readonly Route[]): Route {
  return {
    method: 'get',
    path: '/openapi',
    handle: (request, response) => {
      sendJson(response, adminOpenapi(routes, INTERFACE_VERSION, request.baseUrl));
    },
  };
}
