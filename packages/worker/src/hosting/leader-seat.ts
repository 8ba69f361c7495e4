/** What a node does as the leader of one partition: takes over the log, has the worker lead, and lets go of both. */

import type { LeadershipInput } from '@engine/cluster';
import { isEngineError, type NodeId, type PartitionId } from '@engine/domain';
import type { LeaderLog, LogHealth, SharedLog } from '@engine/log';
import { delay, type Scheduler } from '@engine/runtime';

import type { PartitionHome } from '../context.js';
import {
  onDeposed,
  onLogHealth,
  onStoreFailed,
  onTakeOverFailed,
  onTakeOverRefused,
} from '../events.js';
import type { PartitionSeats } from '../partition-seats.js';
import type { HostedReplica } from './hosted-replica.js';

/** Between a take-over that failed and the next try. */
const RETRY_MS = 500;

export interface LeaderSeatDependencies {
  readonly partition: PartitionId;
  readonly node: NodeId;
  readonly worker: PartitionSeats;
  readonly scheduler: Scheduler;
  readonly mayBeginAttempts: () => boolean;
  readonly tell: (input: LeadershipInput) => void;
}

export interface OpenLog {
  readonly log: SharedLog;
  readonly replica: HostedReplica;
}

export class LeaderSeat {
  readonly #dependencies: LeaderSeatDependencies;
  #log: LeaderLog | undefined;
  #isHeld = false;

  constructor(dependencies: LeaderSeatDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Announces the epoch until the log says something: what landed unnoticed is found there as an epoch that is known. True when it leads,
   * and that was told; false when there is to be read on. Rejects with the signal's reason, and when the replica has failed.
   */
  async announce(epoch: bigint, open: OpenLog, signal: AbortSignal): Promise<boolean> {
    const { partition, scheduler } = this.#dependencies;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.#takeOver(epoch, open, signal);
      } catch (error) {
        if (signal.aborted || open.replica.hasFailed) throw error;
        onTakeOverFailed(partition, error);
        await delay(scheduler, RETRY_MS, signal);
      }
    }
  }

  async #takeOver(epoch: bigint, { log, replica }: OpenLog, signal: AbortSignal): Promise<boolean> {
    const { partition, node, tell } = this.#dependencies;
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
    if (signal.aborted && taken.kind === 'leading') taken.log.resign();
    signal.throwIfAborted();
    if (taken.kind !== 'leading') {
      onTakeOverRefused(partition, epoch, taken);
      return false;
    }
    this.#log = taken.log;
    tell({ kind: 'append-landed', position: taken.log.position });
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
