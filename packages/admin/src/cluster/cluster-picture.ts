/** The cluster as this admin knows it, for operators. It hears what the controller hears; every admin has one, whoever is the controller. */

import type { ControllerInput } from '@engine/cluster';
import {
  NO_ORDERS,
  type ClusterNode,
  type NodeId,
  type PartitionReport,
  type PartitionTable,
  type PlacementOrders,
} from '@engine/domain';
import { LeaseWatch, type LeaseTimes, type Liveness } from '@engine/metadata';

/** More than half of the workers fell silent at once. */
export interface SilenceAlarm {
  readonly nodes: readonly NodeId[];
  /** Milliseconds since 1970-01-01 UTC. */
  readonly at: number;
}

export class ClusterPicture {
  readonly #watch: LeaseWatch<string>;
  readonly #reports = new Map<NodeId, ReadonlyMap<number, PartitionReport>>();
  #nodes: readonly ClusterNode[] = [];
  #table: PartitionTable | undefined;
  #orders: PlacementOrders = NO_ORDERS;
  #silence: SilenceAlarm | undefined;

  constructor(times: LeaseTimes) {
    this.#watch = new LeaseWatch(times);
  }

  /** By id. */
  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  /** Undefined until the first was written. */
  get table(): PartitionTable | undefined {
    return this.#table;
  }

  get orders(): PlacementOrders {
    return this.#orders;
  }

  node(id: string): ClusterNode | undefined {
    return this.#nodes.find((node) => node.id === id);
  }

  liveness(node: NodeId, now: number): Liveness {
    return this.#watch.liveness(node, now);
  }

  /** What the node said last; nothing of one that is dead. */
  reportsOf(node: NodeId): ReadonlyMap<number, PartitionReport> {
    return this.#reports.get(node) ?? NO_REPORTS;
  }

  /** The last one, while any of its nodes is still silent. */
  silence(now: number): SilenceAlarm | undefined {
    const isOver = this.#silence?.nodes.every((node) => {
      const liveness = this.liveness(node, now);
      return liveness === 'alive' || liveness === 'gone';
    });
    return isOver === false ? this.#silence : undefined;
  }

  alarmed(silence: SilenceAlarm): void {
    this.#silence = silence;
  }

  hear(input: ControllerInput, now: number): void {
    switch (input.kind) {
      case 'nodes':
        this.#hearOfNodes(input.nodes);
        return;
      case 'table':
        this.#table = input.table ?? this.#table;
        return;
      case 'orders':
        this.#orders = input.orders;
        return;
      case 'reports':
        this.#reports.set(input.node, input.reports);
        return;
      case 'node-lease':
        this.#watch.seen(input.node, input, now);
        return;
      case 'goodbye':
        this.#watch.goodbye(input.node, input.revision, now);
        this.#reports.delete(input.node);
        return;
      case 'refused':
        this.#watch.refused(input.node, now);
        return;
      case 'reached':
        this.#watch.reached(input.node);
        return;
      case 'access-succeeded':
        this.#watch.accessSucceeded(input.of, now);
        return;
      case 'access-failed':
        this.#watch.accessFailed();
        return;
      default:
    }
  }

  /** What a process said before its restart is not true any more. */
  #hearOfNodes(nodes: readonly ClusterNode[]): void {
    const known = new Map(this.#nodes.map(({ id, incarnation }) => [id, incarnation]));
    for (const { id, incarnation } of nodes) {
      if (known.get(id) !== incarnation) this.#reports.delete(id);
    }
    this.#nodes = nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }
}

const NO_REPORTS: ReadonlyMap<number, PartitionReport> = new Map();
