/**
 * What a new leader rebuilds, all from indexes of live work: the messages that nobody acknowledged, the first timers, the
 * attempts that should run. Rows of ended invocations are never read.
 */

import { toPartitionId } from '@engine/domain';

import type { Performers } from '../actions/perform-action.js';

/** Before anything is decided: later messages must queue behind those that the store holds. */
export function recoverOutbox(outbox: Performers['outbox'], partitionCount: number): void {
  for (let id = 0; id < partitionCount; id += 1) outbox.recover(toPartitionId(id));
}

/** Starts what waits. Commands may be decided meanwhile. */
export async function recoverWork(performers: Performers): Promise<void> {
  await performers.timers.start();
  performers.outbox.flush();
  await performers.invoker.recover();
}
