/** Chance with a seed. Each part of a run draws from a branch of its own, so that more draws in one change nothing in another. */

import { seededRandom, type Random } from '@engine/runtime';
import { assert } from '@engine/stdx';

export class Chance {
  readonly #seed: number;
  readonly #random: Random;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#random = seededRandom(this.#seed);
  }

  branch(label: string): Chance {
    let hash = this.#seed ^ 0x9e3779b9;
    for (const char of label) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
    return new Chance(hash);
  }

  /** A whole number from `min` to `max`, both possible. */
  between(min: number, max: number): number {
    return min + Math.floor(this.#random.float() * (max - min + 1));
  }

  happens(probability: number): boolean {
    return this.#random.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    assert(items.length > 0, 'there is something to pick from');
    return items[this.between(0, items.length - 1)] as T;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let rest = this.#random.float() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      rest -= weight;
      if (rest < 0) return name;
    }
    const [last] = entries.at(-1) ?? [];
    assert(last !== undefined, 'there is something to pick from');
    return last;
  }
}
