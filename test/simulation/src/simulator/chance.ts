/**
 * The only source of chance in a simulation. Everything that is drawn comes from one seed; each room draws from its own branch,
 * so that one more draw in one room does not change what happens in another.
 */

import { seededRandom, type Random } from '@engine/runtime';
import { assert } from '@engine/stdx';

export class Chance implements Random {
  readonly #seed: number;
  readonly #random: Random;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#random = seededRandom(this.#seed);
  }

  /** A branch of its own for one room; the same label gives the same branch. */
  branch(label: string): Chance {
    return new Chance(mix(this.#seed, label));
  }

  bytes(count: number): Uint8Array {
    return this.#random.bytes(count);
  }

  float(): number {
    return this.#random.float();
  }

  /** A whole number, at least 0, less than `count`. */
  below(count: number): number {
    return Math.floor(this.#random.float() * count);
  }

  /** A whole number from `min` to `max`, both possible. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** True in a share `probability` of the cases. Always draws, so that a plan without a fault keeps the rest in step. */
  happens(probability: number): boolean {
    return this.#random.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    assert(items.length > 0, 'there is something to pick from');
    return items[this.below(items.length)] as T;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
    let rest = this.#random.float() * total;
    for (const [name, weight] of entries) {
      rest -= weight;
      if (rest < 0) return name;
    }
    const last = entries.at(-1);
    assert(last !== undefined, 'there is something to pick from');
    return last[0];
  }

  /** Mostly short, now and then long: the shape of real delays. Milliseconds with fractions, up to `max`. */
  delay(typical: number, max: number): number {
    const chance = this.#random.float();
    if (chance < 0.02) return typical + this.#random.float() * (max - typical);
    return chance * typical * 2;
  }
}

/** FNV-1a over the label, started with the seed. */
function mix(seed: number, label: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < label.length; index += 1) {
    hash = Math.imul(hash ^ label.charCodeAt(index), 0x01000193) >>> 0;
  }
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
}
