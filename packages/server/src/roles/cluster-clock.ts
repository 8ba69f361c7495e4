/**
 * The time of a node of a cluster. Timers fire by the clock of their leader, so a machine whose clock is set to a wrong time while it
 * leads must not be followed: the clocks of the NATS servers decide.
 */

import {
  delay,
  SteadyClock,
  systemClock,
  type Clock,
  type Scheduler,
  type Service,
} from '@engine/runtime';
import { createLogger } from '@engine/telemetry';

import { system } from './system.js';

const log = createLogger('server:clock');

const LOOK_INTERVAL_MS = 500;

/** Less than this is not worth a question. */
const JUMP_MS_MIN = 250;

const steady = new SteadyClock(systemClock);

/** As `system`, for nodes of a cluster. */
export const clusterSystem = { ...system, clock: steady };

export interface ClockKeeperDependencies {
  readonly steady: SteadyClock;
  readonly machine: Clock;
  readonly scheduler: Scheduler;
  /** The time of the servers, in ms since 1970. */
  readonly reference: () => Promise<number>;
}

export class ClockKeeper implements Service {
  readonly #dependencies: ClockKeeperDependencies;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** A jump that was found wrong: told once. */
  #refusedMs = 0;

  constructor(dependencies: ClockKeeperDependencies) {
    this.#dependencies = dependencies;
  }

  start(): Promise<void> {
    this.#running = this.#run();
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // While nobody can be asked the steady time goes on.
      await this.#look().catch(() => undefined);
      const { scheduler } = this.#dependencies;
      await delay(scheduler, LOOK_INTERVAL_MS, signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { steady: clock, machine, reference } = this.#dependencies;
    const jumpMs = Math.round(clock.behindMs);
    if (Math.abs(jumpMs) < JUMP_MS_MIN) return;
    const time = await reference();
    if (Math.abs(machine.now() - time) < Math.abs(clock.now() - time)) {
      clock.adopt();
      log.warn({ jumpMs }, 'the clock of this machine was set, or it slept; its time is right');
    } else if (Math.abs(jumpMs - this.#refusedMs) >= JUMP_MS_MIN) {
      this.#refusedMs = jumpMs;
      log.error(
        { jumpMs },
        'the clock of this machine was set to a wrong time; it is not followed',
      );
    }
  }
}

/** For this process. */
export function makeClockKeeper(reference: () => Promise<number>): ClockKeeper {
  const { scheduler } = system;
  return new ClockKeeper({ steady, machine: systemClock, scheduler, reference });
}
