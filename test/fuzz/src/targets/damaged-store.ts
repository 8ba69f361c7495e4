/** A store whose rows are given, for reading: writes are taken and forgotten. Made for one input, so making it is cheap. */

import type { KvBatch, KvEntry, KvRange, KvStore } from '@engine/storage';
import { compareBytes } from '@engine/stdx';

export class DamagedStore implements KvStore {
  readonly #entries: readonly KvEntry[];

  /** `entries` in the order of their keys. */
  constructor(entries: readonly KvEntry[]) {
    this.#entries = entries;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const found = this.#entries[this.#firstAtLeast(key)];
    return found !== undefined && compareBytes(found.key, key) === 0 ? found.value : undefined;
  }

  batch(): KvBatch {
    return { put: ignore, del: ignore, write: () => Promise.resolve() };
  }

  scan({ gte, lt, limit }: KvRange): Promise<readonly KvEntry[]> {
    const from = this.#firstAtLeast(gte);
    const until = Math.min(this.#firstAtLeast(lt), from + limit);
    return Promise.resolve(this.#entries.slice(from, until));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Position of the first entry whose key is `key` or above. */
  #firstAtLeast(key: Uint8Array): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = this.#entries[middle];
      if (entry !== undefined && compareBytes(entry.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function ignore(): void {
  // Nobody reads it again.
}
