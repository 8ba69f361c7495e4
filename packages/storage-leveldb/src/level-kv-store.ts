/** KvStore on LevelDB. Chained batches, bytes in and out without conversion, synchronous point reads. */

import { EngineError, isEngineError } from '@engine/domain';
import type { KvBatch, KvEntry, KvRange, KvStore, RangeReader } from '@engine/storage';
import { ClassicLevel, type Iterator } from 'classic-level';

import { prepareDirectory, type StoreKind } from './format.js';

const MIB = 1024 * 1024;

/** LevelDB keeps up to two write buffers in memory; larger ones make fewer, larger level-0 files. */
export const WRITE_BUFFER_BYTES_DEFAULT = 32 * MIB;
const BLOCK_CACHE_BYTES_DEFAULT = 16 * MIB;

/** How much an iterator fetches ahead per crossing into native code. */
const SCAN_FETCH_BYTES = 256 * 1024;

/** A page of a range: up to so many bytes and rows; about 2 ms of the main thread. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_ROWS_MAX = 1_000;

export interface LevelKvStoreOptions {
  readonly directory: string;
  readonly kind: StoreKind;
  readonly writeBufferBytes?: number | undefined;
  readonly blockCacheBytes?: number | undefined;
}

type Level = ClassicLevel<Uint8Array, Uint8Array>;

const VIEWS = { keyEncoding: 'view', valueEncoding: 'view' } as const;

export class LevelKvStore implements KvStore, RangeReader {
  readonly #level: Level;

  private constructor(level: Level) {
    this.#level = level;
  }

  /**
   * Opens the directory, or makes it. Throws EngineError RT0005 when another process has it open, the codes of `kind` when its
   * format does not fit or the data is damaged, `storage` for anything else.
   */
  static async open(options: LevelKvStoreOptions): Promise<LevelKvStore> {
    try {
      await prepareDirectory(options.directory, options.kind);
      const level: Level = new ClassicLevel(options.directory, {
        ...VIEWS,
        writeBufferSize: options.writeBufferBytes ?? WRITE_BUFFER_BYTES_DEFAULT,
        cacheSize: options.blockCacheBytes ?? BLOCK_CACHE_BYTES_DEFAULT,
      });
      await level.open();
      return new LevelKvStore(level);
    } catch (cause) {
      throw openError(options, cause);
    }
  }

  get(key: Uint8Array): Uint8Array | undefined {
    try {
      return this.#level.getSync(key);
    } catch (cause) {
      throw storageError('a read failed', cause);
    }
  }

  batch(): KvBatch {
    const batch = this.#level.batch();
    return {
      put: (key, value) => {
        batch.put(key, value);
      },
      del: (key) => {
        batch.del(key);
      },
      write: async ({ sync }) => {
        try {
          await batch.write({ sync });
        } catch (cause) {
          throw storageError('a write failed', cause);
        }
      },
    };
  }

  async scan({ gte, lt, limit, reverse = false }: KvRange): Promise<readonly KvEntry[]> {
    try {
      const iterator = this.#level.iterator({
        gte,
        lt,
        limit,
        reverse,
        highWaterMarkBytes: SCAN_FETCH_BYTES,
      });
      const entries = await iterator.all();
      return entries.map(([key, value]) => ({ key, value }));
    } catch (cause) {
      throw storageError('a scan failed', cause);
    }
  }

  pages({ gte, lt }: Pick<KvRange, 'gte' | 'lt'>): AsyncIterable<readonly KvEntry[]> {
    try {
      // An iterator stands on the moment in which it was made. What it reads once would only push others out of the cache.
      const options = { gte, lt, highWaterMarkBytes: PAGE_BYTES, fillCache: false };
      return pagesOf(this.#level.iterator(options));
    } catch (cause) {
      throw storageError('a range cannot be read', cause);
    }
  }

  async close(): Promise<void> {
    await this.#level.close();
  }

  /** A property of LevelDB, for metrics: `leveldb.stats`, `leveldb.num-files-at-level0`, … Empty when unknown. */
  property(name: string): string {
    return this.#level.getProperty(name);
  }
}

async function* pagesOf(
  iterator: Iterator<Level, Uint8Array, Uint8Array>,
): AsyncGenerator<readonly KvEntry[]> {
  try {
    for (;;) {
      const page = await iterator.nextv(PAGE_ROWS_MAX);
      if (page.length === 0) return;
      yield page.map(([key, value]) => ({ key, value }));
    }
  } catch (cause) {
    throw storageError('a range cannot be read', cause);
  } finally {
    await iterator.close();
  }
}

function openError({ directory, kind }: LevelKvStoreOptions, cause: unknown): EngineError {
  if (isEngineError(cause)) return cause;
  const details = { directory };
  if (hasCode(cause, 'LEVEL_LOCKED')) {
    const message = `the database in ${directory} is locked by another process`;
    return new EngineError('RT0005', message, { cause, details });
  }
  const message = `${kind.what} ${directory} cannot be opened: ${innermostMessage(cause)}`;
  const isDamaged = hasCode(cause, 'LEVEL_CORRUPTION') || hasCode(cause, 'LEVEL_IO_ERROR');
  const code = isDamaged ? kind.damagedCode : 'storage';
  return new EngineError(code, message, { cause, details });
}

/** True when the error or a cause below it has the code. Looks at shape, not class: native errors are of another realm. */
function hasCode(error: unknown, code: string): boolean {
  return chainOf(error).some((each) => 'code' in each && each.code === code);
}

/** The first cause says what the database found. */
function innermostMessage(error: unknown): string {
  const last = chainOf(error).at(-1);
  return last !== undefined && 'message' in last ? String(last.message) : String(error);
}

function chainOf(error: unknown): object[] {
  const chain: object[] = [];
  let at = error;
  while (typeof at === 'object' && at !== null) {
    chain.push(at);
    at = 'cause' in at ? at.cause : undefined;
  }
  return chain;
}

function storageError(message: string, cause: unknown): EngineError {
  return new EngineError('storage', `${message}: ${innermostMessage(cause)}`, { cause });
}
