/** What placement works on. */

import type { NodeId, PartitionTable } from '@engine/domain';

/**
 * `ready` leads and follows. `leaving` lives and leads only when nobody is ready; it comes back, so it goes on following. `draining` lives,
 * leads only when nobody is ready, and follows nothing. `absent` is dead since a short while: it leads nothing and its places are
 * kept. `gone` has no part.
 */
export type Availability = 'ready' | 'leaving' | 'draining' | 'absent' | 'gone';

export interface PlacementNode {
  readonly id: NodeId;
  /** Undefined counts as a zone of its own. */
  readonly zone: string | undefined;
  readonly availability: Availability;
}

export interface PlacementInput {
  readonly partitionCount: number;
  /** The table in force; undefined before the first. */
  readonly table: PartitionTable | undefined;
  readonly nodes: readonly PlacementNode[];
  /** Standbys of each partition, as far as there are nodes. */
  readonly standbyCount: number;
  /** Partition → who shall lead it, while that node is ready. */
  readonly pins: ReadonlyMap<number, NodeId>;
  /** True when the node cannot hold the partition (quarantined store). */
  readonly isUnfit: (partition: number, node: NodeId) => boolean;
  /** Highest epoch that somebody read in the log of a partition; 0 when nobody said. */
  readonly logEpoch: (partition: number) => bigint;
}

export function isAlive({ availability }: PlacementNode): boolean {
  return availability === 'ready' || availability === 'leaving' || availability === 'draining';
}
