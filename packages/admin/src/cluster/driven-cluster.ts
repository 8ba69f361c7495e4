/** The operators' view of a cluster, out of what the driver of the controller knows; their orders go into a document. */

import {
  EngineError,
  type ClusterNode,
  type NodeId,
  type PartitionAssignment,
  type PlacementOrders,
} from '@engine/domain';
import type { MetadataStore } from '@engine/metadata';

import { alarmsOf } from './alarms.js';
import type {
  ClusterOperations,
  ClusterStatus,
  NodeStatus,
  PartitionStatus,
  ReplicaStatus,
} from './cluster-status.js';
import type { ControllerDriver } from './controller-driver.js';
import { ordersChanged } from './events.js';
import { updateOrders } from './orders-document.js';

const UNASSIGNED: PartitionAssignment = {
  leader: undefined,
  epoch: 0n,
  standbys: [],
  predecessors: [],
};

export class DrivenCluster implements ClusterOperations {
  readonly #driver: ControllerDriver;
  readonly #store: MetadataStore;

  constructor(driver: ControllerDriver, store: MetadataStore) {
    this.#driver = driver;
    this.#store = store;
  }

  status(): ClusterStatus {
    const { cluster, controller, picture, self } = this.#driver;
    const partitions = this.#partitions();
    return {
      name: cluster.name,
      isCluster: true,
      self,
      controller,
      formatVersion: this.#driver.formatVersion,
      tableVersion: picture.table?.version,
      nodes: picture.nodes.map((node) => this.#node(node, partitions)),
      partitions,
      orders: picture.orders,
      alarms: alarmsOf(partitions, picture.silence(this.#driver.now())),
    };
  }

  async drain(node: string): Promise<PlacementOrders> {
    const { id } = await this.#requireWorker(node);
    return this.#update({ drain: id }, (orders) => {
      if (orders.drained.includes(id)) return orders;
      return { ...orders, drained: [...orders.drained, id] };
    });
  }

  async undrain(node: string): Promise<PlacementOrders> {
    const { id } = await this.#requireWorker(node);
    return this.#update({ undrain: id }, (orders) => {
      if (!orders.drained.includes(id)) return orders;
      return { ...orders, drained: orders.drained.filter((each) => each !== id) };
    });
  }

  async pin(partition: number, node: string): Promise<PlacementOrders> {
    this.#requirePartition(partition);
    const { id } = await this.#requireWorker(node);
    this.#requireLiving(id);
    return this.#update({ partition, pin: id }, (orders) => {
      if (orders.drained.includes(id)) {
        throw new EngineError('conflict', `node '${id}' is drained; take that back first`);
      }
      const others = orders.pins.filter((pin) => pin.partition !== partition);
      if (orders.pins.some((pin) => pin.partition === partition && pin.node === id)) return orders;
      return { ...orders, pins: [...others, { partition, node: id }] };
    });
  }

  async unpin(partition: number): Promise<PlacementOrders> {
    this.#requirePartition(partition);
    return this.#update({ partition, pin: null }, (orders) => {
      const pins = orders.pins.filter((pin) => pin.partition !== partition);
      return pins.length === orders.pins.length ? orders : { ...orders, pins };
    });
  }

  setFrozen(isFrozen: boolean): Promise<PlacementOrders> {
    return this.#update({ isFrozen }, (orders) =>
      orders.isFrozen === isFrozen ? orders : { ...orders, isFrozen },
    );
  }

  async #update(
    what: object,
    change: (orders: PlacementOrders) => PlacementOrders,
  ): Promise<PlacementOrders> {
    const orders = await updateOrders(this.#store, change);
    ordersChanged(what);
    // So that a look right after shows it; the next round would bring it, too.
    await this.#driver.refresh().catch(() => undefined);
    return orders;
  }

  async #requireWorker(id: string): Promise<ClusterNode> {
    const { picture } = this.#driver;
    if (picture.node(id) === undefined) await this.#driver.refresh();
    const node = picture.node(id);
    if (node === undefined) {
      throw new EngineError('not-found', `there is no node '${id}' in the cluster`);
    }
    if (node.roles.includes('worker')) return node;
    throw new EngineError('conflict', `node '${id}' is no worker; it leads nothing`);
  }

  #requireLiving(id: NodeId): void {
    if (this.#driver.picture.liveness(id, this.#driver.now()) !== 'gone') return;
    throw new EngineError('conflict', `node '${id}' is not running`);
  }

  #requirePartition(partition: number): void {
    const { partitionCount } = this.#driver.cluster;
    if (partition < partitionCount) return;
    const range = `0 to ${String(partitionCount - 1)}`;
    throw new EngineError(
      'not-found',
      `there is no partition ${String(partition)}; there are ${range}`,
    );
  }

  #node(node: ClusterNode, partitions: readonly PartitionStatus[]): NodeStatus {
    const { picture } = this.#driver;
    const { id } = node;
    return {
      node,
      liveness: picture.liveness(id, this.#driver.now()),
      isDrained: picture.orders.drained.includes(id),
      leadsCount: partitions.filter(({ assignment }) => assignment.leader === id).length,
      followsCount: partitions.filter(({ assignment }) => assignment.standbys.includes(id)).length,
    };
  }

  #partitions(): PartitionStatus[] {
    const { cluster, picture } = this.#driver;
    const pins = new Map(picture.orders.pins.map(({ partition, node }) => [partition, node]));
    return Array.from({ length: cluster.partitionCount }, (_, id) => {
      const assignment = picture.table?.partitions[id] ?? UNASSIGNED;
      const replicas = this.#replicas(id, assignment);
      return { id, assignment, pinnedTo: pins.get(id), replicas };
    });
  }

  /** Of all nodes that have a part in the partition, the leader first. */
  #replicas(partition: number, { leader, standbys }: PartitionAssignment): ReplicaStatus[] {
    const { picture } = this.#driver;
    const said = picture.nodes.flatMap(({ id }) => {
      const report = picture.reportsOf(id).get(partition);
      const hasPart = id === leader || standbys.includes(id) || report?.phase !== 'idle';
      return report === undefined || !hasPart ? [] : [{ node: id, report }];
    });
    const head = said.find(({ node }) => node === leader)?.report.applied;
    return said
      .toSorted((a, b) => Number(b.node === leader) - Number(a.node === leader))
      .map(({ node, report }) => ({ node, report, lag: lagBehind(head, report.applied) }));
  }
}

function lagBehind(head: bigint | undefined, applied: bigint): bigint | undefined {
  if (head === undefined) return undefined;
  return head > applied ? head - applied : 0n;
}
