/** Whether this process knows where requests go. */

import { toPartitionId } from '@engine/domain';
import type { Readiness } from '@engine/runtime';

import type { LeaderDirectory, LeaderTable } from './leader-directory.js';

const PART = 'partition table';

/**
 * Effects: `readiness` lacks the partition table until every partition has a leader named in it. Only before a cluster had its first
 * worker is there none; while leaders change, requests wait and the process stays ready.
 */
export function awaitTable(
  directory: LeaderDirectory,
  readiness: Pick<Readiness, 'ready' | 'notReady'>,
): { cancel(): void } {
  const look = (): void => {
    if (!isComplete(directory.current)) return;
    watch.cancel();
    readiness.ready(PART);
  };
  readiness.notReady(PART, 'no worker leads some of the partitions yet');
  const watch = directory.watch(look);
  look();
  return watch;
}

function isComplete(table: LeaderTable): boolean {
  for (let id = 0; id < table.partitionCount; id += 1) {
    if (table.leaderOf(toPartitionId(id)) === undefined) return false;
  }
  return table.partitionCount > 0;
}
