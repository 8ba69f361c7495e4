/** What the server says of itself: health, version. */

import type { AdminContext } from '../context.js';
import { API_VERSION_MAX, API_VERSION_MIN } from '../dialect.js';
import { HttpProblem } from './problem.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';

/** Version of the interface that is served here (interface §9.1); clients compare it, so it is not the server's own. */
export const INTERFACE_VERSION = '1.7.2';

export function serverRoutes(context: AdminContext): Route[] {
  return [
    {
      method: 'get',
      path: '/health',
      handle: (_request, response) => {
        if (!context.isReady()) throw new HttpProblem(503, 'the server cannot take work yet');
        response.status(200).end();
      },
    },
    {
      method: 'get',
      path: '/version',
      handle: (_request, response) => {
        sendJson(response, {
          version: INTERFACE_VERSION,
          min_admin_api_version: API_VERSION_MIN,
          max_admin_api_version: API_VERSION_MAX,
          ingress_endpoint: context.config.ingressEndpoint,
          features: context.config.features,
        });
      },
    },
    {
      method: 'get',
      path: '/cluster-health',
      handle: (_request, response) => {
        if (!context.isReady()) throw new HttpProblem(503, 'the cluster cannot take work yet');
        sendJson(response, {
          cluster_name: context.config.clusterName,
          metadata_cluster_health: null,
        });
      },
    },
  ];
}
