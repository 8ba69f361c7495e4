/**
 * No two processes have attempts of one invocation at once. A process that was frozen past its lease is excused, until it had a moment
 * to find out: of that overlap the server says that it can happen.
 */

import type { ExchangeFacts } from '../deployment/sim-exchange.js';
import type { ServerProcess } from '../simulator/process.js';
import type { Lab } from '../workloads/lab.js';

/** After its thaw a process has looked at its lease within so long, ms. */
const AWAKE_MS = 1_000;

interface Running {
  readonly facts: ExchangeFacts;
  readonly process: ServerProcess;
}

export class OverlapChecker {
  readonly #lab: Lab;
  readonly #isLeaseHeld: (process: ServerProcess) => boolean;
  readonly #running = new Map<string, Map<number, Running>>();
  /** Processes whose lease ran out while they were frozen. */
  readonly #zombies = new WeakSet<ServerProcess>();

  /** `isLeaseHeld`: as the clock of the process says now, whether it runs or not. */
  constructor(lab: Lab, isLeaseHeld: (process: ServerProcess) => boolean) {
    this.#lab = lab;
    this.#isLeaseHeld = isLeaseHeld;
  }

  /** True for a process that may not know yet that it was counted dead. */
  isZombie(process: ServerProcess): boolean {
    const isAwake = !process.isFrozen && this.#lab.loop.now - process.thawedAt >= AWAKE_MS;
    if (isAwake) this.#zombies.delete(process);
    else if (!this.#isLeaseHeld(process)) this.#zombies.add(process);
    return this.#zombies.has(process);
  }

  opened(facts: ExchangeFacts, process: ServerProcess): void {
    const running = this.#running.get(facts.invocationId) ?? new Map<number, Running>();
    this.#running.set(facts.invocationId, running.set(facts.number, { facts, process }));
    if (this.isZombie(process)) return;
    for (const other of running.values()) {
      const isOurs = other.process === process || !other.process.isAlive;
      if (isOurs || this.isZombie(other.process)) continue;
      this.#lab.violation(
        `${facts.invocationId} runs in ${process.name} while its attempt ${String(other.facts.number)} runs in ${other.process.name}`,
      );
    }
  }

  over({ invocationId, number }: ExchangeFacts): void {
    const running = this.#running.get(invocationId);
    running?.delete(number);
    if (running?.size === 0) this.#running.delete(invocationId);
  }

  /** Attempts that somebody hears, in a process that lives. */
  runningIn(process: ServerProcess): readonly ExchangeFacts[] {
    return [...this.#running.values()]
      .flatMap((running) => [...running.values()])
      .filter((running) => running.process === process)
      .map(({ facts }) => facts);
  }
}
