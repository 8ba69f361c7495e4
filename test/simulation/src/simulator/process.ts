/**
 * One life of a server process: its doors to time, chance and later. After a crash none of them leads anywhere: what still runs
 * of the dead process changes nothing outside. A crash may come between any two events and at any step outward.
 */

import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

import type { Chance } from './chance.js';
import { EPOCH_MS, type EventLoop } from './event-loop.js';

/** Distance of two turns of one process that would fall on the same instant; keeps them in order. */
const TURN_MS = 0.000_01;

export class ServerProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Chance;
  readonly #loop: EventLoop;
  readonly #pace: Chance;
  readonly #onCrash: (reason: string) => void;
  readonly #onUncaught: (error: unknown) => void;
  #isAlive = true;
  #lastTurnAt = 0;
  #stepsLeft: number | undefined;

  constructor(
    name: string,
    dependencies: {
      readonly loop: EventLoop;
      readonly chance: Chance;
      /** How far the clock may be off, either way, ms. */
      readonly clockSkewMs: number;
      readonly onCrash: (reason: string) => void;
      /** The process threw where nobody catches, which ends a real one. */
      readonly onUncaught: (error: unknown) => void;
    },
  ) {
    this.name = name;
    this.#loop = dependencies.loop;
    this.#onCrash = dependencies.onCrash;
    this.#onUncaught = dependencies.onUncaught;
    this.random = dependencies.chance.branch(`${name} random`);
    this.#pace = dependencies.chance.branch(`${name} pace`);
    const skew = new ClockSkew(
      dependencies.chance.branch(`${name} clock`),
      dependencies.clockSkewMs,
    );
    this.clock = {
      now: () => EPOCH_MS + Math.floor(this.#loop.now) + skew.at(this.#loop.now),
      monotonic: () => this.#loop.now,
    };
    this.scheduler = {
      immediate: (fn) => {
        this.#immediate(fn);
      },
      after: (ms, fn) => this.#after(ms, fn),
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Dies at the `steps`-th step outward from now on; undefined calls it off. */
  crashAfterSteps(steps: number | undefined): void {
    this.#stepsLeft = steps;
  }

  crash(reason: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#onCrash(reason);
  }

  /** A step that the world can see. False when the process is dead, or dies in taking it: then nothing happened. */
  stepOutward(): boolean {
    if (!this.#isAlive) return false;
    if (this.#stepsLeft !== undefined) {
      this.#stepsLeft -= 1;
      if (this.#stepsLeft <= 0) {
        this.crash('at a step outward');
        return false;
      }
    }
    return true;
  }

  /** Runs something that comes from outside, unless the process is dead by then. */
  guarded(fn: () => void): () => void {
    return () => {
      if (!this.#isAlive) return;
      try {
        fn();
      } catch (error) {
        this.#onUncaught(error);
      }
    };
  }

  #immediate(fn: () => void): void {
    if (!this.#isAlive) return;
    const at = Math.max(this.#loop.now + this.#pace.delay(0.01, 5), this.#lastTurnAt + TURN_MS);
    this.#lastTurnAt = at;
    this.#loop.at(at, this.guarded(fn));
  }

  #after(ms: number, fn: () => void): Cancellable {
    if (!this.#isAlive) return { cancel: () => undefined };
    return this.#loop.after(Math.max(ms, 1) + this.#pace.delay(0.2, 20), this.guarded(fn));
  }
}

/** The error of a clock, ms; somebody sets the clock every few seconds. */
class ClockSkew {
  readonly #chance: Chance;
  readonly #max: number;
  #error = 0;
  #setAgainAt = 0;

  constructor(chance: Chance, max: number) {
    this.#chance = chance;
    this.#max = max;
  }

  at(now: number): number {
    if (this.#max > 0 && now >= this.#setAgainAt) {
      this.#error = this.#chance.between(-this.#max, this.#max);
      this.#setAgainAt = now + this.#chance.between(500, 10_000);
    }
    return this.#error;
  }
}
