import type { NodeId, PartitionId, PartitionReport } from '@engine/domain';

/** What a replica has applied: its last record, and the value of the chain there. */
export interface AppliedPosition {
  readonly sequence: bigint;
  readonly chain: bigint;
}

/**
 * What the workers of a cluster ask each other, and the controller asks them, besides requests to partitions. In one process a call,
 * between processes unary calls with a deadline. Each rejects with EngineError `unavailable` when the node cannot be reached.
 */
export interface NodeControl {
  /** What the node says of each partition in which it has a part. */
  reports(): Promise<ReadonlyMap<PartitionId, PartitionReport>>;
  /**
   * The leader of `epoch` waits for this node to stop. Resolves once nothing runs here any more that was begun in an earlier epoch, at
   * once where nothing does.
   */
  stopLeading(partition: PartitionId, epoch: bigint): Promise<void>;
  /** Where the replica of the node stands; undefined: it has none. */
  applied(partition: PartitionId): Promise<AppliedPosition | undefined>;
}

/** What the admin asks every node after it changed the schema, so that whoever registered something can call it anywhere. */
export interface SchemaFollower {
  /** Resolves once the node goes by this version of the schema document, or a later one. */
  reachSchema(version: bigint): Promise<void>;
}

/** The way to the other nodes of the cluster. */
export interface NodePeers {
  /** Workers of the cluster but this one, living or not. */
  readonly workers: readonly NodeId[];
  /** Undefined: nobody knows the node. */
  control(node: NodeId): NodeControl | undefined;
}
