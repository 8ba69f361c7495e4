/** What must hold at every moment, checked as it happens and apart from the machines. */

import type { LogRecord } from '@engine/log';

import type { SimLog } from './stores.js';
import type { Party, World } from './world.js';

/** A worker, as far as the watchdog looks at it. */
export interface Watched extends Party {
  readonly isUp: boolean;
  readonly isFrozen: boolean;
  replica(partition: number): { readonly runsAttempts: boolean } | undefined;
}

export class Watchdog {
  readonly #world: World;
  readonly #log: SimLog;
  /** `partition/epoch` → the life of the worker that released something in it. */
  readonly #owners = new Map<string, string>();
  #released = 0;
  /** Filled after they are made. */
  workers: readonly Watched[] = [];

  constructor(world: World, log: SimLog) {
    this.#world = world;
    this.#log = log;
  }

  get releasedCount(): number {
    return this.#released;
  }

  /** SIM-1 one leader releases in an epoch; SIM-2 what it releases is in the log, at its place. */
  released(worker: Watched, partition: number, record: LogRecord): void {
    this.#released += 1;
    const life = `${worker.id}/${worker.incarnation}`;
    const key = `${partition}/${record.epoch}`;
    const owner = this.#owners.get(key) ?? life;
    this.#owners.set(key, owner);
    if (owner !== life) {
      this.#world.violate(`SIM-1 ${life} and ${owner} release at ${key}`);
    }
    const stored = this.#log.records[partition]?.[Number(record.sequence) - 1];
    if (stored?.chain !== record.chain) {
      this.#world.violate(
        `SIM-2 ${life} releases ${record.sequence} of ${partition}, not in the log`,
      );
    }
  }

  /** SIM-3 no two processes that run have attempts of one partition at one moment; a frozen one runs nothing. */
  attemptsStarted(worker: Watched, partition: number): void {
    for (const other of this.workers) {
      if (other === worker || !other.isUp || other.isFrozen) continue;
      if (other.replica(partition)?.runsAttempts !== true) continue;
      this.#world.violate(`SIM-3 ${worker.id} and ${other.id} run attempts of ${partition}`);
    }
  }
}
