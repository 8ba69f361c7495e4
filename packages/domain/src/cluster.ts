/** The documents of a cluster: what it is, who belongs to it, and who leads which partition (docs/design/placement.md). */

declare const nodeId: unique symbol;

/** Name of a process of the cluster; it keeps it through restarts. */
export type NodeId = string & { readonly [nodeId]: true };

/** Characters of a node id. */
export const NODE_ID_LENGTH_MAX = 128;

/** Letters, digits, `_` and `-`: a node id is a part of keys and subjects. Undefined when the text is none. */
export function parseNodeId(text: string): NodeId | undefined {
  const isId = text.length <= NODE_ID_LENGTH_MAX && /^[\w-]+$/.test(text);
  return isId ? (text as NodeId) : undefined;
}

export const ROLES = ['ingress', 'admin', 'worker'] as const;

/** What a process does; one can have several roles. */
export type Role = (typeof ROLES)[number];

/** Versions of the cluster's format (records, rows, commands between roles, documents) that a binary reads and writes. */
export interface FormatRange {
  readonly min: number;
  readonly max: number;
}

/** Copies of each log and document: R1 or R3. */
export type ReplicaCount = 1 | 3;

/** Fixed when the cluster is provisioned, but for `formatVersion`. */
export interface ClusterConfiguration {
  /** Tells two clusters of one name apart. */
  readonly id: string;
  readonly name: string;
  /** 1..PARTITION_COUNT_MAX. Ids are mapped to partitions by it. */
  readonly partitionCount: number;
  readonly replicas: ReplicaCount;
  /** In force for everything that is written; raised only when every node can read it. */
  readonly formatVersion: number;
}

/** `host:port` of each listener that others reach; undefined where the node has none. */
export interface NodeAddresses {
  /** For the other nodes. */
  readonly internal: string;
  readonly ingress: string | undefined;
  readonly admin: string | undefined;
}

/** A node as it says of itself. Whether it lives, its lease says. */
export interface ClusterNode {
  readonly id: NodeId;
  /** Grows with every start of the process. */
  readonly incarnation: number;
  readonly roles: readonly Role[];
  readonly addresses: NodeAddresses;
  /** Nodes of one zone fail together; undefined: nobody said. */
  readonly zone: string | undefined;
  readonly binaryVersion: string;
  readonly formats: FormatRange;
  /** It is about to end: it hands over what it leads and gets nothing new. */
  readonly isLeaving: boolean;
}

export interface PartitionAssignment {
  /** Undefined only before there was ever a worker. */
  readonly leader: NodeId | undefined;
  /** Number of the leadership; 0 before the first. Grows with every change of leader. */
  readonly epoch: bigint;
  /** Follow the log into stores of their own. Never the leader, none twice. */
  readonly standbys: readonly NodeId[];
  /** Nodes that lived and may have led when this leader was named: it asks each to stop before it leads. Dead ones are not among them. */
  readonly predecessors: readonly NodeId[];
}

/** Who leads which partition. */
export interface PartitionTable {
  /** Grows with every change. */
  readonly version: number;
  /** Index = partition id. */
  readonly partitions: readonly PartitionAssignment[];
}

/** What operators ask of placement; it holds until they take it back. */
export interface PlacementOrders {
  /** Nodes that shall lead and follow nothing. */
  readonly drained: readonly NodeId[];
  /** Partitions that shall be led by a certain node. */
  readonly pins: readonly PartitionPin[];
  /** Nothing is moved, not even away from the dead. */
  readonly isFrozen: boolean;
}

export interface PartitionPin {
  readonly partition: number;
  readonly node: NodeId;
}

export const NO_ORDERS: PlacementOrders = { drained: [], pins: [], isFrozen: false };

/** What a node does in one partition (docs/design/leadership.md). */
export type PartitionPhase =
  /** Has no part in the partition, or its store is not open yet. */
  | 'idle'
  /** Applies the log to its store. */
  | 'follower'
  /** Is to lead, and reads the log to its end. */
  | 'candidate'
  /** Its announcement is on its way. */
  | 'announcing'
  /** Leads; rebuilds timers, attempts and outbox. */
  | 'rebuilding'
  | 'leader'
  /** Leads no more; lets go of what it holds. */
  | 'stepping-down'
  /** Its store or its log cannot be trusted; somebody has to decide. */
  | 'quarantined';

/** Why a node does not lead although it was told to. */
export type LeadershipFault =
  /** The log ends before the store. */
  | 'ahead'
  /** The log has another history at the place of the store. */
  | 'other-branch'
  /** The log was made anew since. */
  | 'other-incarnation'
  /** A replica has records that the log lost. */
  | 'tail-lost'
  /** The stored format is newer than this binary. */
  | 'format'
  /** The own clock is too far off the log's. */
  | 'clock';

/** What a node tells the controller of its part in a partition, with every change. */
export interface PartitionReport {
  readonly phase: PartitionPhase;
  /** Epoch in which it leads or wants to lead; else the last that it was told. */
  readonly epoch: bigint;
  /** Highest epoch that it read in the log or heard of. At or above `epoch` without leading: it has given up. */
  readonly logEpoch: bigint;
  /** Sequence of the last record applied, as far as the machine was told. */
  readonly applied: bigint;
  /** It has read the log to its end once since it opened its store, and followed since. */
  readonly isCaughtUp: boolean;
  /** A leader whose appends are not acknowledged any more: it asks to be replaced. */
  readonly isStuck: boolean;
  readonly fault: LeadershipFault | undefined;
}
