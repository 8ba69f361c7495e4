/** What a node does as the leader of one partition: takes over the log, has the worker lead, and lets go of both. */

import type { LeadershipInput } from '@engine/cluster';
import { isEngineError, type NodeId, type PartitionId } from '@engine/domain';
import type { LeaderLog, LogHealth, SharedLog } from '@engine/log';

import type { PartitionHome } from '../context.js';
import { onDeposed, onLogHealth, onStoreFailed, onTakeOverRefused } from '../events.js';
import type { PartitionSeats } from '../partition-seats.js';
import type { HostedReplica } from './hosted-replica.js';

export interface LeaderSeatDependencies {
  readonly partition: PartitionId;
  readonly node: NodeId;
  readonly worker: PartitionSeats;
  readonly mayBeginAttempts: () => boolean;
  readonly tell: (input: LeadershipInput) => void;
}

export class LeaderSeat {
  readonly #dependencies: LeaderSeatDependencies;
  #log: LeaderLog | undefined;
  #isHeld = false;

  constructor(dependencies: LeaderSeatDependencies) {
    this.#dependencies = dependencies;
  }

  /** Announces the epoch. True when it is in the log; false when the log did not take it, and why is met again by reading on. */
  async announce(
    epoch: bigint,
    { log, replica }: { readonly log: SharedLog; readonly replica: HostedReplica },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { partition, node } = this.#dependencies;
    const taken = await log.takeOver({
      epoch,
      node,
      from: replica.position,
      apply: replica.apply,
      onHealth: (health) => {
        if (!signal.aborted) this.#onHealth(health);
      },
      signal,
    });
    if (taken.kind !== 'leading') {
      onTakeOverRefused(partition, epoch, taken);
      return false;
    }
    if (signal.aborted) taken.log.resign();
    signal.throwIfAborted();
    this.#log = taken.log;
    this.#dependencies.tell({ kind: 'append-landed', position: taken.log.position });
    return true;
  }

  /** Resolves when the worker serves the partition, with its attempts held, or has let it go. */
  async rebuild(replica: HostedReplica, signal: AbortSignal): Promise<void> {
    const { partition, worker } = this.#dependencies;
    const log = this.#log;
    if (log === undefined) return;
    this.#isHeld = false;
    await worker.lead(partition, this.#home(replica, log, signal));
  }

  /** Starts the attempts, unless they were held meanwhile. Rejects when the store cannot be read. */
  async serve(): Promise<void> {
    if (!this.#isHeld) await this.#dependencies.worker.resumeAttempts(this.#dependencies.partition);
  }

  hold(): void {
    this.#isHeld = true;
    this.#dependencies.worker.holdAttempts(this.#dependencies.partition);
  }

  resume(): Promise<void> {
    this.#isHeld = false;
    return this.serve();
  }

  /** Nothing of it runs any more when this returns. An append under way may still land. */
  letGo(): void {
    this.#log?.resign();
    this.#log = undefined;
    this.#dependencies.worker.letGo(this.#dependencies.partition);
  }

  #home(replica: HostedReplica, log: LeaderLog, signal: AbortSignal): PartitionHome {
    const { place, store } = replica;
    const { mayBeginAttempts } = this.#dependencies;
    const onFatal = (error: unknown): void => {
      if (!signal.aborted) this.#onFatal(error);
    };
    return {
      place,
      store,
      log,
      isShared: true,
      timeMin: log.announcedAt,
      mayBeginAttempts,
      onFatal,
    };
  }

  #onFatal(error: unknown): void {
    const { partition, tell } = this.#dependencies;
    if (isEngineError(error) && error.code === 'deposed') {
      onDeposed(partition);
      tell({ kind: 'append-overtaken' });
    } else {
      onStoreFailed(partition, error);
      tell({ kind: 'store-failed' });
    }
  }

  #onHealth(health: LogHealth): void {
    const { partition, tell } = this.#dependencies;
    onLogHealth(partition, health);
    const position = this.#log?.position;
    if (health.kind === 'silent') tell({ kind: 'append-unknown', forMs: health.forMs });
    else if (health.kind === 'ok' && position !== undefined)
      tell({ kind: 'append-landed', position });
  }
}
