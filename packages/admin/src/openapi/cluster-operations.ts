import { moveBody } from '../http/cluster.js';
import type { Operation, Operations } from './operation.js';
import { clusterShape, ordersShape } from './shapes.js';

const IN_FORCE = { 200: { description: 'The orders in force.', shape: ordersShape } };

function order(parts: Pick<Operation, 'id' | 'summary' | 'description' | 'errors'>): Operation {
  return { tag: 'cluster', answers: IN_FORCE, ...parts };
}

export const CLUSTER_OPERATIONS: Operations = {
  'GET /cluster': {
    tag: 'cluster',
    id: 'get_cluster',
    summary: 'Nodes, partitions, orders and alarms of the cluster',
    description: 'As the admin that answers knows them; every admin does.',
    answers: { 200: { description: 'The cluster.', shape: clusterShape } },
    errors: [],
  },
  'POST /cluster/nodes/:node/drain': order({
    id: 'drain_node',
    summary: 'Move everything away from a worker',
    description: 'It leads and follows nothing until that is taken back, through restarts too.',
    errors: [404, 409, 503],
  }),
  'POST /cluster/nodes/:node/undrain': order({
    id: 'undrain_node',
    summary: 'Let a drained worker lead and follow again',
    errors: [404, 409, 503],
  }),
  'POST /cluster/partitions/:partition/move': {
    ...order({
      id: 'move_partition',
      summary: 'Have a partition led by a certain worker',
      description:
        'The worker gets the data first if it is no standby. The pin holds until it is taken back; while its worker is not there another one leads.',
      errors: [400, 404, 409, 415, 422, 503],
    }),
    body: moveBody,
  },
  'DELETE /cluster/partitions/:partition/pin': order({
    id: 'unpin_partition',
    summary: 'Let placement choose the leader of a partition again',
    errors: [400, 404, 409, 503],
  }),
  'POST /cluster/freeze': order({
    id: 'freeze_placement',
    summary: 'Move nothing, not even away from dead workers',
    errors: [409, 503],
  }),
  'POST /cluster/unfreeze': order({
    id: 'unfreeze_placement',
    summary: 'Let placement move partitions again',
    errors: [409, 503],
  }),
};
