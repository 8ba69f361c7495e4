/** One number for a set of rows, the same whatever the order in which they came and went. */

import type { Checksum } from '@engine/log';

export class RowsDigest {
  readonly #checksum: Checksum;
  #value = 0n;

  constructor(checksum: Checksum) {
    this.#checksum = checksum;
  }

  get value(): bigint {
    return this.#value;
  }

  /** Undefined: there is, or was, no such row. */
  replace(key: Uint8Array, before: Uint8Array | undefined, after: Uint8Array | undefined): void {
    if (before !== undefined) this.#value ^= this.#of(key, before);
    if (after !== undefined) this.#value ^= this.#of(key, after);
  }

  #of(key: Uint8Array, value: Uint8Array): bigint {
    const row = new Uint8Array(2 + key.length + value.length);
    new DataView(row.buffer).setUint16(0, key.length);
    row.set(key, 2);
    row.set(value, 2 + key.length);
    return this.#checksum(row);
  }
}
