/**
 * What a new leader rebuilds before it serves, from indexes of live work: the messages that nobody acknowledged and the first timers.
 * The invoker reads the attempts that should run while requests are decided. Rows of ended invocations are never read.
 */

import { toPartitionId } from '@engine/domain';

import type { Performers } from '../actions/perform-action.js';

/** Before anything is decided: later messages must queue behind those that the store holds. */
export function recoverOutbox(outbox: Performers['outbox'], partitionCount: number): void {
  for (let id = 0; id < partitionCount; id += 1) outbox.recover(toPartitionId(id));
}

/** Before anything is decided, too. */
export async function recoverWork({ timers, outbox }: Performers): Promise<void> {
  await timers.start();
  outbox.flush();
}
