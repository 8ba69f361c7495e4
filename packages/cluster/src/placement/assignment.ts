/** Steps from one assignment and one table to the next. */

import type { NodeId, PartitionAssignment, PartitionTable } from '@engine/domain';

/** Whoever may lead under this assignment: its leader, and those whom it had to ask to stop. */
export function leadersUpTo({ leader, predecessors }: PartitionAssignment): readonly NodeId[] {
  return leader === undefined ? predecessors : [...new Set([...predecessors, leader])];
}

/** Epoch of the next leadership: beyond every one that the table or the log knows. */
export function epochAfter({ epoch }: PartitionAssignment, logEpoch: bigint): bigint {
  return (epoch > logEpoch ? epoch : logEpoch) + 1n;
}

export const UNASSIGNED: PartitionAssignment = {
  leader: undefined,
  epoch: 0n,
  standbys: [],
  predecessors: [],
};

/** The table with these partitions in its next version; the same table when they are the same. */
export function replacePartitions(
  table: PartitionTable | undefined,
  partitions: readonly PartitionAssignment[],
): PartitionTable {
  const before = table?.partitions ?? [];
  const isSame = partitions.every((partition, index) => partition === before[index]);
  if (table !== undefined && isSame && before.length === partitions.length) return table;
  return { version: (table?.version ?? 0) + 1, partitions };
}

/** The same object when the standbys are the same. */
export function withStandbys(
  assignment: PartitionAssignment,
  standbys: readonly NodeId[],
): PartitionAssignment {
  const old = assignment.standbys;
  const isSame = old.length === standbys.length && old.every((id, i) => id === standbys[i]);
  return isSame ? assignment : { ...assignment, standbys };
}
