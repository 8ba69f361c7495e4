/** The key-value store of one process over the disk that outlives it. */

import type { KvBatch, KvEntry, KvRange, KvStore, RangeReader } from '@engine/storage';

import type { Chance } from './chance.js';
import type { DiskKey, DiskWrite, SimDisk } from './disk.js';
import type { ServerProcess } from './process.js';

export function diskKey(key: Uint8Array): DiskKey {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}

export function keyBytes(key: DiskKey): Uint8Array {
  return Uint8Array.from(Buffer.from(key, 'latin1'));
}

/** Typical and longest time of a page of a scan, ms. */
const SCAN_MS = 0.5;
const SCAN_MS_MAX = 200;

/** Rows of one page of a large range. */
const PAGE_ROWS = 100;

export class SimKvStore implements KvStore, RangeReader {
  readonly #disk: SimDisk;
  readonly #process: ServerProcess;
  readonly #pace: Chance;

  constructor(disk: SimDisk, process: ServerProcess) {
    this.#disk = disk;
    this.#process = process;
    this.#pace = process.random.branch('scans');
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#disk.get(diskKey(key))?.slice();
  }

  batch(): KvBatch {
    const writes: DiskWrite[] = [];
    return {
      put: (key, value) => {
        writes.push({ key: diskKey(key), value: value.slice() });
      },
      del: (key) => {
        writes.push({ key: diskKey(key), value: undefined });
      },
      write: ({ sync }) => this.#write(writes, sync),
    };
  }

  async scan(range: KvRange): Promise<readonly KvEntry[]> {
    // The page is read as of now and handed over later.
    const page = readPage(this.#disk.keys(), (key) => this.#disk.get(key), range);
    await this.#process.turn(this.#pace.delay(SCAN_MS, SCAN_MS_MAX));
    return page;
  }

  pages({ gte, lt }: Pick<KvRange, 'gte' | 'lt'>): AsyncIterable<readonly KvEntry[]> {
    const range = { gte, lt, limit: Number.POSITIVE_INFINITY };
    const rows = readPage(this.#disk.keys(), (key) => this.#disk.get(key), range);
    return this.#inPages(rows);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async *#inPages(rows: readonly KvEntry[]): AsyncGenerator<readonly KvEntry[]> {
    for (let from = 0; from < rows.length; from += PAGE_ROWS) {
      await this.#process.turn(this.#pace.delay(SCAN_MS, SCAN_MS_MAX));
      yield rows.slice(from, from + PAGE_ROWS);
    }
  }

  #write(writes: readonly DiskWrite[], sync: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#process.isAlive) return;
      this.#disk.write(writes, sync, (error) => {
        this.#process.guarded(() => {
          if (error === undefined) resolve();
          else reject(error);
        })();
      });
      // A process that dies in this step leaves the batch on its way: it lands or it does not.
      this.#process.stepOutward();
    });
  }
}

/** Entries of sorted keys within a range. */
export function readPage(
  sortedKeys: readonly DiskKey[],
  valueOf: (key: DiskKey) => Uint8Array | undefined,
  range: KvRange,
): readonly KvEntry[] {
  const [gte, lt] = [diskKey(range.gte), diskKey(range.lt)];
  const inRange = sortedKeys.slice(placeOf(sortedKeys, gte), placeOf(sortedKeys, lt));
  if (range.reverse === true) inRange.reverse();
  return inRange.slice(0, range.limit).map((key) => ({
    key: keyBytes(key),
    value: (valueOf(key) ?? new Uint8Array(0)).slice(),
  }));
}

/** Index of the first key at or above `key`. */
function placeOf(sortedKeys: readonly DiskKey[], key: DiskKey): number {
  let low = 0;
  let high = sortedKeys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sortedKeys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
