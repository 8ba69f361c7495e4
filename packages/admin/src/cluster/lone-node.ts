/** One process with all roles: the same view with one node, and nothing to move. */

import {
  NO_ORDERS,
  type ClusterNode,
  type NodeAddresses,
  type NodeId,
  type PlacementOrders,
} from '@engine/domain';

import { HttpProblem } from '../http/problem.js';
import type { ClusterOperations, ClusterStatus } from './cluster-status.js';

export interface LoneNodeOptions {
  readonly clusterName: string;
  /** Default: `engine`. */
  readonly id?: NodeId;
  /** Default: none are shown. */
  readonly partitionCount?: number;
  readonly binaryVersion?: string;
  readonly addresses?: NodeAddresses;
}

const DEFAULT_ID = 'engine' as NodeId;
const NOWHERE: NodeAddresses = { internal: '', ingress: undefined, admin: undefined };

export class LoneNode implements ClusterOperations {
  readonly #options: LoneNodeOptions;

  constructor(options: LoneNodeOptions) {
    this.#options = options;
  }

  status(): ClusterStatus {
    const {
      clusterName,
      id = DEFAULT_ID,
      partitionCount = 0,
      binaryVersion = '',
      addresses = NOWHERE,
    } = this.#options;
    const node: ClusterNode = {
      id,
      incarnation: 1,
      roles: ['ingress', 'admin', 'worker'],
      addresses,
      zone: undefined,
      binaryVersion,
      formats: { min: 1, max: 1 },
      isLeaving: false,
    };
    const assignment = { leader: id, epoch: 1n, standbys: [], predecessors: [] };
    return {
      name: clusterName,
      isCluster: false,
      self: id,
      controller: undefined,
      formatVersion: 1,
      tableVersion: undefined,
      nodes: [
        {
          node,
          liveness: 'alive',
          isDrained: false,
          leadsCount: partitionCount,
          followsCount: 0,
        },
      ],
      partitions: Array.from({ length: partitionCount }, (_, partition) => ({
        id: partition,
        assignment,
        pinnedTo: undefined,
        replicas: [],
      })),
      orders: NO_ORDERS,
      alarms: [],
    };
  }

  drain(): Promise<PlacementOrders> {
    return refused();
  }

  undrain(): Promise<PlacementOrders> {
    return refused();
  }

  pin(): Promise<PlacementOrders> {
    return refused();
  }

  unpin(): Promise<PlacementOrders> {
    return refused();
  }

  setFrozen(): Promise<PlacementOrders> {
    return refused();
  }
}

function refused(): Promise<never> {
  const message =
    'this server is one process with all roles: there is no other node to move anything to';
  return Promise.reject(new HttpProblem(409, message));
}
