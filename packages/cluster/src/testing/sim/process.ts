/** A process of the simulated cluster: it can be killed, frozen and thawed, and everything that it does later knows which life it is of. */

import type { NodeId } from '@engine/domain';

import type { Party, World } from './world.js';

export abstract class Process implements Party {
  readonly id: NodeId;
  readonly world: World;
  isUp = false;
  isFrozen = false;
  /** Counts the starts. */
  incarnation = 0;
  #backlog: (() => void)[] = [];

  constructor(id: string, world: World) {
    this.id = id as NodeId;
    this.world = world;
  }

  start(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.isFrozen = false;
    this.incarnation += 1;
    this.#backlog = [];
    this.world.note(`${this.id} starts`);
    this.onStart();
  }

  kill(): void {
    if (!this.isUp) return;
    this.world.note(`${this.id} is killed`);
    this.isUp = false;
    this.onKill();
  }

  freeze(): void {
    this.world.note(`${this.id} freezes`);
    this.isFrozen = true;
  }

  thaw(): void {
    if (!this.isFrozen) return;
    this.isFrozen = false;
    if (!this.isUp) return;
    this.world.note(`${this.id} thaws`);
    this.onThaw();
    const waiting = this.#backlog;
    this.#backlog = [];
    for (const fn of waiting) this.run(fn);
  }

  /** Runs it now, after the thaw, or never: when the process was killed in between. */
  run(fn: () => void, life = this.incarnation): void {
    if (!this.isUp || life !== this.incarnation) return;
    if (this.isFrozen) this.#backlog.push(fn);
    else fn();
  }

  after(ms: number, fn: () => void): void {
    const life = this.incarnation;
    this.world.after(ms, () => {
      this.run(fn, life);
    });
  }

  /** Every `ms`, for this life. */
  every(ms: number, fn: () => void): void {
    this.after(ms, () => {
      fn();
      this.every(ms, fn);
    });
  }

  protected abstract onStart(): void;
  protected abstract onKill(): void;
  /** First of all after a freeze. */
  protected abstract onThaw(): void;
}
