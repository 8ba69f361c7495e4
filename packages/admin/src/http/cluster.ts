/** What operators see and ask of the cluster. Any admin answers; the controller acts on the orders. */

import { EngineError, type PlacementOrders } from '@engine/domain';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { AdminContext } from '../context.js';
import { clusterView, ordersView } from '../views/cluster-view.js';
import { pathText, readBody } from './request.js';
import type { Route } from './routes.js';
import { sendJson } from './send-json.js';

const NODE = '/cluster/nodes/:node';
const PARTITION = '/cluster/partitions/:partition';

export const moveBody = z.strictObject({
  node: z.string().min(1).describe('Id of the worker that shall lead the partition.'),
});

export function clusterRoutes(context: AdminContext): Route[] {
  const { cluster } = context;
  return [
    {
      method: 'get',
      path: '/cluster',
      handle: (_request, response) => {
        sendJson(response, clusterView(cluster.status()));
      },
    },
    order(`${NODE}/drain`, (request) => cluster.drain(pathText(request, 'node'))),
    order(`${NODE}/undrain`, (request) => cluster.undrain(pathText(request, 'node'))),
    order(`${PARTITION}/move`, (request) => {
      const { node } = readBody(request, moveBody);
      return cluster.pin(pathPartition(request), node);
    }),
    {
      ...order(`${PARTITION}/pin`, (request) => cluster.unpin(pathPartition(request))),
      method: 'delete',
    },
    order('/cluster/freeze', () => cluster.setFrozen(true)),
    order('/cluster/unfreeze', () => cluster.setFrozen(false)),
  ];
}

function order(path: string, give: (request: Request) => Promise<PlacementOrders>): Route {
  const handle = async (request: Request, response: Response): Promise<void> => {
    sendJson(response, ordersView(await give(request)));
  };
  return { method: 'post', path, handle };
}

function pathPartition(request: Request): number {
  const text = pathText(request, 'partition');
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new EngineError('bad-request', `bad partition '${text}': it is a number from 0 on`);
}
