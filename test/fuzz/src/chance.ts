/** Seeded chance. Every input has its own stream, made of seed and number, so any one can be made again alone. */

const UINT32 = 2 ** 32;

/** Numbers at which code that counts bytes tends to be wrong. */
const EDGES = [
  ...[0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 24, 31, 32, 33, 63, 64, 100, 127, 128, 129, 254, 255],
  ...[256, 257, 999, 1_000, 1_023, 1_024, 4_095, 16_383, 16_384, 65_534, 65_535, 65_536],
  ...[0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff],
];

export class Chance {
  // sfc32: small, fast, and good enough to pass the usual test batteries.
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(seed: number, index: number) {
    this.#a = seed | 0;
    this.#b = index | 0;
    this.#c = Math.floor(index / UINT32) | 0;
    for (let i = 0; i < 12; i += 1) this.u32();
  }

  u32(): number {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** 0 ≤ result < 1. */
  float(): number {
    return this.u32() / UINT32;
  }

  /** 0 ≤ result < `end`. */
  below(end: number): number {
    return Math.floor(this.float() * end);
  }

  /** `min` ≤ result ≤ `max`. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** True with probability `p`. */
  yes(p = 0.5): boolean {
    return this.float() < p;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Small numbers mostly, edges often, anything sometimes. */
  number(): number {
    const kind = this.below(10);
    if (kind < 4) return this.below(16);
    return kind < 8 ? this.pick(EDGES) : this.u32();
  }

  /** A length: short mostly, now and then up to `max`. */
  length(max: number): number {
    return this.below(this.yes(0.8) ? Math.min(max, 16) + 1 : max + 1);
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i += 1) bytes[i] = this.u32();
    return bytes;
  }

  /** Characters of any kind: letters mostly, then ASCII, blanks and controls, other planes, lone surrogates. */
  text(length: number): string {
    let text = '';
    for (let i = 0; i < length; i += 1) text += this.character();
    return text;
  }

  character(): string {
    const kind = this.below(20);
    if (kind < 12) return String.fromCharCode(0x61 + this.below(26));
    if (kind < 16) return String.fromCharCode(this.below(0x80));
    if (kind < 18) return String.fromCharCode(this.below(0x800));
    return kind < 19
      ? String.fromCodePoint(0x1_0000 + this.below(0x1000))
      : String.fromCharCode(this.below(0x1_0000));
  }

  /** A list of `count` things. */
  list<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}
