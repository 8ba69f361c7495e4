/**
 * One leader releases in an epoch of a partition, and what it releases is in the log, at its place. Looks at what the log tells the
 * leader, because everything is released on that word.
 */

import type { PartitionId } from '@engine/domain';
import type { LeaderLog, LogPosition, SharedLog } from '@engine/log';

import type { LogTruth } from '../cluster/log-truth.js';
import type { Lab } from '../workloads/lab.js';

export class LeadersChecker {
  readonly #truth: LogTruth;
  readonly #lab: Lab;
  readonly #onLeading: (life: string, partition: PartitionId, position: LogPosition) => void;
  /** `partition/epoch` → the life of the process that released something in it. */
  readonly #owners = new Map<string, string>();
  #released = 0;

  constructor(dependencies: {
    readonly truth: LogTruth;
    readonly lab: Lab;
    readonly onLeading: (life: string, partition: PartitionId, position: LogPosition) => void;
  }) {
    this.#truth = dependencies.truth;
    this.#lab = dependencies.lab;
    this.#onLeading = dependencies.onLeading;
  }

  /** Records that were released, announcements included. */
  get releasedCount(): number {
    return this.#released;
  }

  /** The log as a process uses it. `life`: its name, used by no other process. */
  watched(log: SharedLog, life: string, partition: PartitionId): SharedLog {
    const released = (position: LogPosition): void => {
      this.#release(life, partition, position);
    };
    return {
      end: () => log.end(),
      follow: (request) => log.follow(request),
      trim: (sequence) => log.trim(sequence),
      takeOver: async (candidate) => {
        const outcome = await log.takeOver(candidate);
        if (outcome.kind !== 'leading') return outcome;
        released(outcome.log.position);
        this.#onLeading(life, partition, outcome.log.position);
        return { kind: 'leading', log: watchedLeader(outcome.log, released) };
      },
    };
  }

  #release(life: string, partition: PartitionId, position: LogPosition): void {
    this.#released += 1;
    const { epoch, sequence, chain } = position;
    const key = `${String(partition)}/${String(epoch)}`;
    const owner = this.#owners.get(key) ?? life;
    this.#owners.set(key, owner);
    this.#lab.expect(
      owner === life,
      () => `one leader per epoch: ${life} and ${owner} release at ${key}`,
    );
    const stored = this.#truth.at(partition, sequence)?.position;
    this.#lab.expect(
      stored?.chain === chain && stored.epoch === epoch,
      () => `${life} releases record ${String(sequence)} of ${key}, which is not in the log`,
    );
  }
}

function watchedLeader(log: LeaderLog, released: (position: LogPosition) => void): LeaderLog {
  return {
    get position() {
      return log.position;
    },
    announcedAt: log.announcedAt,
    commit: async (record) => {
      await log.commit(record);
      released(record);
    },
    resign: () => {
      log.resign();
    },
  };
}
