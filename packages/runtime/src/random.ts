import { randomFillSync } from 'node:crypto';

/** The only door to chance. Seeded in tests and in the simulation. */
export interface Random {
  /** `count` fresh bytes that nobody else holds. The system's are good enough for secrets. */
  bytes(count: number): Uint8Array;
  /** At least 0, less than 1. Not for secrets. */
  float(): number;
}

// One crossing into the platform's generator (about a microsecond) serves 256 identifiers of 16 bytes.
const POOL_BYTES = 4096;

class PooledRandom implements Random {
  readonly #pool = new Uint8Array(POOL_BYTES);
  #used = POOL_BYTES;

  bytes(count: number): Uint8Array {
    if (count > POOL_BYTES) return randomFillSync(new Uint8Array(count));
    if (this.#used + count > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const bytes = this.#pool.slice(this.#used, this.#used + count);
    this.#used += count;
    return bytes;
  }

  float(): number {
    return Math.random();
  }
}

export const systemRandom: Random = new PooledRandom();

/** A repeatable source for tests: the same seed gives the same bytes and numbers (splitmix32). Never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => next() & 0xff),
    float: () => next() / 2 ** 32,
  };
}
