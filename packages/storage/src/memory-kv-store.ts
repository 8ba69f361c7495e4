/**
 * Memory twin of KvStore. It tells apart what was written and what was synced, so that a test can cut the power, and asks
 * its hook before each write, so that a test can fail or delay it.
 */

import { EngineError } from '@engine/domain';
import { compareBytes, fromHex, toHex } from '@engine/stdx';

import type { KvBatch, KvEntry, KvRange, KvStore, RangeReader } from './kv-store.js';

/** A write that is about to happen. */
export interface PendingWrite {
  /** Number of the write in this store, from 0. */
  readonly index: number;
  readonly sync: boolean;
  readonly operationCount: number;
}

export interface MemoryKvStoreOptions {
  /** Throw (or reject) to fail the write without effect; a promise delays it. */
  readonly beforeWrite?: (write: PendingWrite) => Promise<void> | undefined;
}

type Rows = Map<string, Uint8Array>;
type Operations = readonly { readonly key: string; readonly value: Uint8Array | undefined }[];

/** Rows in one page of `pages`: few, so that tests see several. */
const PAGE_ROWS = 16;

export class MemoryKvStore implements KvStore, RangeReader {
  readonly #options: MemoryKvStoreOptions;
  readonly #rows: Rows;
  /** Rows as the last sync left them. */
  readonly #synced: Rows;
  #unsynced: Operations[] = [];
  #sortedKeys: string[] | undefined;
  #writes = 0;
  #isOpen = true;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(
    options: MemoryKvStoreOptions = {},
    rows: ReadonlyMap<string, Uint8Array> = new Map(),
  ) {
    this.#options = options;
    this.#rows = new Map(rows);
    this.#synced = new Map(rows);
  }

  /** Batches written since the last sync: what a power cut may take. */
  get unsyncedCount(): number {
    return this.#unsynced.length;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#requireOpen();
    return this.#rows.get(toHex(key))?.slice();
  }

  batch(): KvBatch {
    const operations: { key: string; value: Uint8Array | undefined }[] = [];
    return {
      put: (key, value) => {
        operations.push({ key: toHex(key), value: value.slice() });
      },
      del: (key) => {
        operations.push({ key: toHex(key), value: undefined });
      },
      write: ({ sync }) => this.#enqueue(operations, sync),
    };
  }

  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return Promise.resolve().then(() => this.#scanNow(range));
  }

  pages(range: Pick<KvRange, 'gte' | 'lt'>): AsyncIterable<readonly KvEntry[]> {
    return pagesOf(this.#scanNow({ ...range, limit: Infinity }), () => {
      this.#requireOpen();
    });
  }

  async close(): Promise<void> {
    await this.#tail;
    this.#isOpen = false;
  }

  /**
   * Cuts the power: this store is dead, and what a new process finds is the synced rows and those unsynced batches that
   * `survives` (by their position) lets through. Default: none.
   */
  crash(
    options: MemoryKvStoreOptions = {},
    survives: (index: number) => boolean = () => false,
  ): MemoryKvStore {
    this.#isOpen = false;
    const rows = new Map(this.#synced);
    this.#unsynced.forEach((operations, index) => {
      if (survives(index)) applyTo(rows, operations);
    });
    return new MemoryKvStore(options, rows);
  }

  #enqueue(operations: Operations, sync: boolean): Promise<void> {
    const pending = { index: this.#writes++, sync, operationCount: operations.length };
    const done = this.#tail.then(async () => {
      this.#requireOpen();
      await this.#options.beforeWrite?.(pending);
      this.#requireOpen();
      this.#apply(operations, sync);
    });
    this.#tail = done.catch(() => undefined);
    return done;
  }

  #apply(operations: Operations, sync: boolean): void {
    applyTo(this.#rows, operations);
    this.#sortedKeys = undefined;
    this.#unsynced.push(operations);
    if (!sync) return;
    for (const batch of this.#unsynced) applyTo(this.#synced, batch);
    this.#unsynced = [];
  }

  #scanNow({ gte, lt, limit, reverse = false }: KvRange): readonly KvEntry[] {
    this.#requireOpen();
    this.#sortedKeys ??= [...this.#rows.keys()].sort();
    const entries: KvEntry[] = [];
    const keys = reverse ? this.#sortedKeys.toReversed() : this.#sortedKeys;
    for (const text of keys) {
      if (entries.length >= limit) break;
      const key = fromHex(text);
      const value = this.#rows.get(text);
      if (value === undefined || compareBytes(key, gte) < 0 || compareBytes(key, lt) >= 0) continue;
      entries.push({ key, value: value.slice() });
    }
    return entries;
  }

  #requireOpen(): void {
    if (!this.#isOpen) throw new EngineError('storage', 'the store is closed');
  }
}

async function* pagesOf(
  entries: readonly KvEntry[],
  requireOpen: () => void,
): AsyncGenerator<readonly KvEntry[]> {
  for (let from = 0; from < entries.length; from += PAGE_ROWS) {
    await Promise.resolve();
    requireOpen();
    yield entries.slice(from, from + PAGE_ROWS);
  }
}

function applyTo(rows: Rows, operations: Operations): void {
  for (const { key, value } of operations) {
    if (value === undefined) rows.delete(key);
    else rows.set(key, value);
  }
}
