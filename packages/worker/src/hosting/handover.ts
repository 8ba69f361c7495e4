/** What a candidate asks the other workers: what they applied, and to stop. */

import type { LogTail, ReplicaPosition } from '@engine/cluster';
import type { NodeId, PartitionId } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import { delay, type Scheduler } from '@engine/runtime';
import type { NodePeers } from '@engine/wire';

import type { HostedReplica } from './hosted-replica.js';

/** Replicas that have not said what they applied by then count as out of reach. */
const REPLICAS_MS_MAX = 1_000;

/** Between two tries to reach a predecessor. */
const ASK_AGAIN_MS = 250;

export interface HandoverDependencies {
  readonly partition: PartitionId;
  readonly peers: NodePeers;
  readonly scheduler: Scheduler;
}

export interface StopWanted {
  readonly node: NodeId;
  readonly epoch: bigint;
  /** False when nobody waits for it any more. */
  readonly isWanted: () => boolean;
}

export class Handover {
  readonly #dependencies: HandoverDependencies;
  /** What the replicas answered last. */
  #replicas: readonly ReplicaPosition[] = [];

  constructor(dependencies: HandoverDependencies) {
    this.#dependencies = dependencies;
  }

  /** What every replica that can be reached has applied. Rejects with the signal's reason. */
  async askReplicas(signal: AbortSignal): Promise<readonly ReplicaPosition[]> {
    const { partition, peers, scheduler } = this.#dependencies;
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
    this.#replicas = [...answers];
    return this.#replicas;
  }

  /** The end of the log as the replica has it, with the values of its chain where those stand that were asked. */
  async tail(end: LogPosition, replica: HostedReplica): Promise<LogTail> {
    const chains = new Map<bigint, bigint | undefined>();
    for (const { sequence } of this.#replicas) {
      if (sequence < end.sequence) chains.set(sequence, await replica.chainAt(sequence));
    }
    return { end, chainAt: (sequence) => chains.get(sequence) };
  }

  /** Asks until the predecessor has stopped for this epoch, or nobody wants it any more. Rejects with the signal's reason. */
  async askToStop({ node, epoch, isWanted }: StopWanted, signal: AbortSignal): Promise<void> {
    const { partition, peers, scheduler } = this.#dependencies;
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
}
