/** What a candidate asks the other workers: what they applied, and to stop. */

import type { ReplicaPosition } from '@engine/cluster';
import type { NodeId, PartitionId } from '@engine/domain';
import { delay, type Scheduler } from '@engine/runtime';
import type { NodePeers } from '@engine/wire';

/** Replicas that have not said what they applied by then count as out of reach. */
const REPLICAS_MS_MAX = 1_000;

/** Between two tries to reach a predecessor. */
const ASK_AGAIN_MS = 250;

export interface Asking {
  readonly partition: PartitionId;
  readonly peers: NodePeers;
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
}

/** What every replica that can be reached has applied. Rejects with the signal's reason. */
export async function askReplicas(asking: Asking): Promise<readonly ReplicaPosition[]> {
  const { partition, peers, scheduler, signal } = asking;
  const answers: ReplicaPosition[] = [];
  const ask = async (node: NodeId): Promise<void> => {
    const applied = await peers.control(node)?.applied(partition);
    if (applied !== undefined) answers.push({ node, ...applied });
  };
  const answered = new AbortController();
  const all = Promise.allSettled(peers.workers.map(ask)).then(() => {
    answered.abort(new Error('every replica has answered'));
  });
  const waited = AbortSignal.any([signal, answered.signal]);
  await Promise.race([all, delay(scheduler, REPLICAS_MS_MAX, waited).catch(() => undefined)]);
  signal.throwIfAborted();
  return [...answers];
}

export interface StopWanted {
  readonly node: NodeId;
  readonly epoch: bigint;
  /** False when nobody waits for it any more. */
  readonly isWanted: () => boolean;
}

/** Asks until the predecessor has stopped for this epoch, or nobody wants it any more. Rejects with the signal's reason. */
export async function askToStop(
  { partition, peers, scheduler, signal }: Asking,
  { node, epoch, isWanted }: StopWanted,
): Promise<void> {
  while (isWanted()) {
    try {
      const control = peers.control(node);
      if (control !== undefined) {
        await control.stopLeading(partition, epoch);
        return;
      }
    } catch {
      // It cannot be reached: it comes back, the table drops it, or the candidate has waited long enough.
    }
    await delay(scheduler, ASK_AGAIN_MS, signal);
  }
}
