/**
 * One life of a server process: its doors to time, chance and later. After a crash none of them leads anywhere: what still runs
 * of the dead process changes nothing outside. A crash may come between any two events and at any step outward. While the process
 * is frozen whatever comes for it waits, and time goes on; thawed, it finds its timers and its mail in the order in which a real
 * event loop might.
 */

import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

import type { Chance } from './chance.js';
import { EPOCH_MS, type EventLoop } from './event-loop.js';

/** Distance of two turns of one process that would fall on the same instant; keeps them in order. */
const TURN_MS = 0.000_01;

type Source = 'timer' | 'mail';

interface Waiting {
  readonly source: Source;
  readonly fn: () => void;
}

export class ServerProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly random: Chance;
  /** Aborts when the process dies. */
  readonly died: AbortSignal;
  readonly #death = new AbortController();
  readonly #loop: EventLoop;
  readonly #pace: Chance;
  readonly #onCrash: (reason: string) => void;
  readonly #onUncaught: (error: unknown) => void;
  #isAlive = true;
  /** What came while the process was frozen, oldest first; undefined while it runs. */
  #backlog: Waiting[] | undefined;
  #frozenAt = 0;
  #thawedAt = -Infinity;
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
    this.died = this.#death.signal;
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

  get isFrozen(): boolean {
    return this.#backlog !== undefined;
  }

  /** For how long it has been frozen, or was before its last thaw; ms. */
  get frozenForMs(): number {
    const until = this.isFrozen ? this.#loop.now : this.#thawedAt;
    return Math.max(0, until - this.#frozenAt);
  }

  /** Virtual ms of the last thaw; -Infinity before any. */
  get thawedAt(): number {
    return this.#thawedAt;
  }

  freeze(): void {
    if (!this.#isAlive || this.isFrozen) return;
    this.#backlog = [];
    this.#frozenAt = this.#loop.now;
  }

  /** Effects: what waited has its turns, one event each: timers first or mail first, each kind in its order. */
  thaw(): void {
    const backlog = this.#backlog;
    if (backlog === undefined) return;
    this.#backlog = undefined;
    this.#thawedAt = this.#loop.now;
    const first: Source = this.#pace.happens(0.5) ? 'timer' : 'mail';
    const inOrder = [
      ...backlog.filter(({ source }) => source === first),
      ...backlog.filter(({ source }) => source !== first),
    ];
    for (const { fn } of inOrder) this.#loop.at(this.#nextTurn(this.#loop.now), this.guarded(fn));
  }

  /** Dies at the `steps`-th step outward from now on; undefined calls it off. */
  crashAfterSteps(steps: number | undefined): void {
    this.#stepsLeft = steps;
  }

  crash(reason: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#backlog = undefined;
    this.#death.abort();
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

  /** Runs something that comes from outside: after the thaw when the process is frozen, never when it is dead by then. */
  guarded(fn: () => void): () => void {
    return () => {
      this.#enter('mail', fn);
    };
  }

  /** Resolves in a turn of this process; never when it is dead by then. */
  turn(afterMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#loop.after(afterMs, this.guarded(resolve));
    });
  }

  #enter(source: Source, fn: () => void): void {
    if (!this.#isAlive) return;
    if (this.#backlog !== undefined) {
      this.#backlog.push({ source, fn });
      return;
    }
    try {
      fn();
    } catch (error) {
      this.#onUncaught(error);
    }
  }

  #immediate(fn: () => void): void {
    if (!this.#isAlive) return;
    const at = this.#nextTurn(this.#loop.now + this.#pace.delay(0.01, 5));
    this.#loop.at(at, () => {
      this.#enter('timer', fn);
    });
  }

  #nextTurn(notBefore: number): number {
    this.#lastTurnAt = Math.max(notBefore, this.#lastTurnAt + TURN_MS);
    return this.#lastTurnAt;
  }

  #after(ms: number, fn: () => void): Cancellable {
    if (!this.#isAlive) return { cancel: () => undefined };
    let isCancelled = false;
    const run = (): void => {
      if (!isCancelled) fn();
    };
    const event = this.#loop.after(Math.max(ms, 1) + this.#pace.delay(0.2, 20), () => {
      this.#enter('timer', run);
    });
    return {
      cancel: () => {
        isCancelled = true;
        event.cancel();
      },
    };
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
