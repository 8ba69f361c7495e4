/** What operators are shown of a cluster. */

import type {
  ClusterNode,
  NodeId,
  PartitionAssignment,
  PartitionReport,
  PlacementOrders,
} from '@engine/domain';
import type { Liveness } from '@engine/metadata';

/** A node, and what the others make of it. */
export interface NodeStatus {
  readonly node: ClusterNode;
  readonly liveness: Liveness;
  readonly isDrained: boolean;
  readonly leadsCount: number;
  readonly followsCount: number;
}

/** What a node said last of its part in a partition. */
export interface ReplicaStatus {
  readonly node: NodeId;
  readonly report: PartitionReport;
  /** Records that the leader has applied and this one has not; undefined while no leader says. */
  readonly lag: bigint | undefined;
}

export interface PartitionStatus {
  readonly id: number;
  readonly assignment: PartitionAssignment;
  readonly pinnedTo: NodeId | undefined;
  readonly replicas: readonly ReplicaStatus[];
}

export type AlarmKind =
  /** More than half of the workers fell silent at once: nothing is moved away from them for another TTL. */
  | 'workers-silent'
  /** The log of a partition lost acknowledged records: nobody leads it until somebody decides. */
  | 'tail-lost'
  /** The store of a replica does not fit its log; it neither follows nor leads. */
  | 'quarantined'
  /** The appends of a leader are not acknowledged. */
  | 'stuck';

export interface ClusterAlarm {
  readonly kind: AlarmKind;
  readonly message: string;
  readonly nodes: readonly NodeId[];
  readonly partition: number | undefined;
  /** Milliseconds since 1970-01-01 UTC, where it is known. */
  readonly at: number | undefined;
}

export interface ClusterStatus {
  readonly name: string;
  /** False: one process with all roles, and nothing to move. */
  readonly isCluster: boolean;
  readonly self: NodeId;
  readonly controller: NodeId | undefined;
  readonly formatVersion: number;
  /** Undefined until the controller has written the first. */
  readonly tableVersion: number | undefined;
  readonly nodes: readonly NodeStatus[];
  /** By id. */
  readonly partitions: readonly PartitionStatus[];
  readonly orders: PlacementOrders;
  readonly alarms: readonly ClusterAlarm[];
}

/** What operators can see and ask of a cluster. */
export interface ClusterOperations {
  status(): ClusterStatus;
  /**
   * Each gives the orders as they are then; asking for what is so already changes nothing. Throws EngineError `not-found` for a node or
   * partition that is not there, `conflict` when the state of the cluster is against it, `unavailable` when the metadata store cannot
   * be reached.
   */
  drain(node: string): Promise<PlacementOrders>;
  undrain(node: string): Promise<PlacementOrders>;
  pin(partition: number, node: string): Promise<PlacementOrders>;
  unpin(partition: number): Promise<PlacementOrders>;
  setFrozen(isFrozen: boolean): Promise<PlacementOrders>;
}
