/**
 * The rows that tell whether a store lost writes: one per record, sequence → chain value, and the position row over them. They
 * are written in the batch of their record. LevelDB may lose the older of two write-ahead files and keep the newer, so rows are
 * kept for several write buffers and must have no gap when the store opens.
 */

import { EngineError } from '@engine/domain';
import { LOG_START, type LogPosition } from '@engine/log';
import {
  PARTITION_PREFIX_BYTES,
  partitionPrefix,
  prefixEnd,
  TABLES,
  type KvEntry,
  type KvReader,
  type PartitionPlace,
  type RowSink,
} from '@engine/storage';
import { chainLinkRow, encodeRow, positionRow } from '@engine/wire';

import { WRITE_BUFFER_BYTES_DEFAULT } from './level-kv-store.js';

const VERIFY_PAGE_ROWS = 4_096;

/** Rows that one record trims at most: more than it adds, so that the rest shrinks. */
const TRIM_ROWS_PER_RECORD = 4n;

/** Prefix, table, sequence. */
const CHAIN_KEY_BYTES = PARTITION_PREFIX_BYTES + 1 + 8;

/** Distance of the marks by which a row's age in written bytes is known. */
const MARK_BYTES = 1024 * 1024;

/** The rows up to `sequence` were written when the process had written `writtenBytes`. */
interface Mark {
  readonly sequence: bigint;
  readonly writtenBytes: number;
}

/** Write buffers for which the rows against lost writes are kept. */
const KEPT_WRITE_BUFFERS = 4;

/** For how many written bytes rows are kept in a store with such a write buffer. */
export function keptBytesOf(writeBufferBytes: number | undefined): number {
  return KEPT_WRITE_BUFFERS * (writeBufferBytes ?? WRITE_BUFFER_BYTES_DEFAULT);
}

export interface ChainRowsOptions {
  readonly place: PartitionPlace;
  /** A row is kept until so many bytes have been written after it. */
  readonly keptBytes: number;
}

export class ChainRows {
  readonly #keptBytes: number;
  readonly #positionKey: Uint8Array;
  readonly #chainKey: Uint8Array;
  readonly #chainView: DataView;
  readonly #chainPrefix: Uint8Array;
  readonly #prefix: Uint8Array;
  #marks: Mark[] = [];
  #oldest = 1n;

  constructor({ place, keptBytes }: ChainRowsOptions) {
    this.#keptBytes = keptBytes;
    this.#prefix = partitionPrefix(place);
    this.#positionKey = tableKey(this.#prefix, TABLES.position, 0);
    this.#chainPrefix = tableKey(this.#prefix, TABLES.chain, 0);
    this.#chainKey = tableKey(this.#prefix, TABLES.chain, 8);
    this.#chainView = new DataView(this.#chainKey.buffer);
  }

  /**
   * Reads and verifies what the store holds. Returns the position and the bytes written by then.
   *
   * Throws EngineError `storage` when rows are missing: the store lost writes and must not be used.
   */
  async load(store: KvReader): Promise<{ readonly position: LogPosition; writtenBytes: number }> {
    const bytes = store.get(this.#positionKey);
    if (bytes === undefined) {
      await this.#requireEmpty(store);
      return { position: LOG_START, writtenBytes: 0 };
    }
    const { epoch, sequence, chain, oldest, writtenBytes } = positionRow.read(bytes);
    this.#oldest = oldest;
    const position = { epoch, sequence, chain };
    await this.#verify(store, position);
    return { position, writtenBytes };
  }

  /** Value of the chain at a sequence; undefined when its row was trimmed or never was. */
  chainAt(store: KvReader, sequence: bigint): bigint | undefined {
    if (sequence === LOG_START.sequence) return LOG_START.chain;
    const row = store.get(this.#chainKeyOf(sequence));
    return row === undefined ? undefined : chainLinkRow.read(row).chain;
  }

  /** Adds the rows of a record to its batch. Returns about how many bytes they take. */
  stage(sink: RowSink, position: LogPosition, writtenBytes: number): number {
    const { sequence, chain } = position;
    const link = encodeRow(chainLinkRow, { chain, writtenBytes });
    sink.put(this.#chainKeyOf(sequence), link);
    this.#mark(sequence, writtenBytes);
    this.#trim(sink, writtenBytes);
    return link.length + this.#chainKey.length + this.stagePosition(sink, position, writtenBytes);
  }

  /** Adds the position row alone, for the start of an epoch. */
  stagePosition(sink: RowSink, position: LogPosition, writtenBytes: number): number {
    const { epoch, sequence, chain } = position;
    const row = { epoch, sequence, chain, oldest: this.#oldest, writtenBytes };
    const bytes = encodeRow(positionRow, row);
    sink.put(this.#positionKey, bytes);
    return bytes.length + this.#positionKey.length;
  }

  async #requireEmpty(store: KvReader): Promise<void> {
    const range = { gte: this.#prefix, lt: prefixEnd(this.#prefix), limit: 1 };
    const [found] = await store.scan(range);
    if (found !== undefined)
      throw lostWrites('the store holds rows of a partition without position');
  }

  async #verify(store: KvReader, position: LogPosition): Promise<void> {
    let expected = this.#oldest;
    let lastChain: bigint | undefined;
    const lt = prefixEnd(this.#chainPrefix);
    let gte = this.#chainPrefix;
    for (;;) {
      const page = await store.scan({ gte, lt, limit: VERIFY_PAGE_ROWS });
      for (const entry of page) {
        const { sequence, chain, writtenBytes } = readLink(entry);
        if (sequence !== expected) throw lostWrites(`record ${String(expected)} is missing`);
        this.#mark(sequence, writtenBytes);
        lastChain = chain;
        expected += 1n;
      }
      if (page.length < VERIFY_PAGE_ROWS) break;
      gte = this.#chainKeyOf(expected).slice();
    }
    if (expected !== position.sequence + 1n) {
      throw lostWrites(`record ${String(expected)} to ${String(position.sequence)} are missing`);
    }
    if (lastChain !== undefined && lastChain !== position.chain) {
      throw lostWrites('the last record is not the one that the position names');
    }
  }

  #mark(sequence: bigint, writtenBytes: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && writtenBytes - last.writtenBytes < MARK_BYTES) return;
    this.#marks.push({ sequence, writtenBytes });
  }

  /** Deletes a few rows that are old enough. The row of the newest record always stays. */
  #trim(sink: RowSink, writtenBytes: number): void {
    for (let left = TRIM_ROWS_PER_RECORD; left > 0n; left--) {
      const mark = this.#marks[0];
      if (mark === undefined || writtenBytes - mark.writtenBytes < this.#keptBytes) return;
      if (this.#oldest > mark.sequence) {
        this.#marks.shift();
        continue;
      }
      sink.del(this.#chainKeyOf(this.#oldest));
      this.#oldest += 1n;
    }
  }

  #chainKeyOf(sequence: bigint): Uint8Array {
    this.#chainView.setBigUint64(PARTITION_PREFIX_BYTES + 1, sequence);
    return this.#chainKey;
  }
}

function readLink({ key, value }: KvEntry): {
  readonly sequence: bigint;
  readonly chain: bigint;
  readonly writtenBytes: number;
} {
  if (key.length !== CHAIN_KEY_BYTES) throw lostWrites('a key of the chain is torn');
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  const { chain, writtenBytes } = chainLinkRow.read(value);
  return { sequence: view.getBigUint64(PARTITION_PREFIX_BYTES + 1), chain, writtenBytes };
}

function tableKey(prefix: Uint8Array, table: number, extraBytes: number): Uint8Array {
  const key = new Uint8Array(prefix.length + 1 + extraBytes);
  key.set(prefix);
  key[prefix.length] = table;
  return key;
}

function lostWrites(what: string): EngineError {
  return new EngineError(
    'storage',
    `the store lost writes that were acknowledged (${what}); restore it from a backup`,
  );
}
