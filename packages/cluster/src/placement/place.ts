/**
 * Placement: which node leads and which follow each partition, as if every partition could move at once. What may move now, and when,
 * is the controller's to say.
 *
 * Promises (SPEC PLC-1 to PLC-8): the same input gives the same table; leaders are balanced within one, what is pinned aside; a node that
 * joins takes its share and nothing else moves; one that leaves moves its own alone. It leans on the table as it is: without it
 * there is no least change.
 */

import type { PartitionTable } from '@engine/domain';

import {
  epochAfter,
  leadersUpTo,
  replacePartitions,
  UNASSIGNED,
  withStandbys,
} from './assignment.js';
import { placeLeaders } from './place-leaders.js';
import { placeStandbys } from './place-standbys.js';
import { isAlive, type PlacementInput } from './placement-input.js';
import type { Rendezvous } from './rendezvous.js';

/** Gives `input.table` itself when nothing changes. */
export function place(input: PlacementInput, rendezvous: Rendezvous): PartitionTable {
  const leaders = placeLeaders(input, rendezvous);
  const standbys = placeStandbys(input, leaders, rendezvous);
  const alive = new Set(input.nodes.filter(isAlive).map(({ id }) => id));
  const before = input.table?.partitions ?? [];
  const partitions = leaders.map((leader, partition) => {
    const old = before[partition] ?? UNASSIGNED;
    const seated = withStandbys(old, standbys[partition] ?? []);
    if (leader === undefined || leader === old.leader) return seated;
    const predecessors = leadersUpTo(old).filter((id) => alive.has(id) && id !== leader);
    return { ...seated, leader, predecessors, epoch: epochAfter(old, input.logEpoch(partition)) };
  });
  return replacePartitions(input.table, partitions);
}
