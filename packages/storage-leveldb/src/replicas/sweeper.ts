/** Deletes generations that do not count, one after the other, behind everything else. */

import type { PartitionPlace } from '@engine/storage';

import type { Generations } from './generations.js';

export interface SweeperDependencies {
  readonly generations: Generations;
  readonly onSwept: (place: PartitionPlace, rows: number) => void;
  /** What is left then is found again at the next start. */
  readonly onFailed: (place: PartitionPlace, error: unknown) => void;
}

export class Sweeper {
  readonly #dependencies: SweeperDependencies;
  readonly #stopping = new AbortController();
  #tail: Promise<void> = Promise.resolve();

  constructor(dependencies: SweeperDependencies) {
    this.#dependencies = dependencies;
  }

  add(place: PartitionPlace): void {
    this.#tail = this.#tail.then(() => this.#sweep(place));
  }

  /** Resolves when all that was added is gone. */
  idle(): Promise<void> {
    return this.#tail;
  }

  /** Stops after the slice at hand. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#tail;
  }

  async #sweep(place: PartitionPlace): Promise<void> {
    const { generations, onSwept, onFailed } = this.#dependencies;
    if (this.#isStopping()) return;
    try {
      onSwept(place, await generations.sweep(place, this.#stopping.signal));
    } catch (error) {
      if (!this.#isStopping()) onFailed(place, error);
    }
  }

  /** Asked anew after every wait. */
  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}
