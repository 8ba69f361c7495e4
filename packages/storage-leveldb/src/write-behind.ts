/**
 * Write-behind for the replicas in one store. What is put here is read here at once, and stands in the store a moment later: rows of
 * many records, of all partitions, in one batch, each key once with its last value. Nothing is synced. What a crash takes, at most
 * the last moments of every partition alike, is read again from the log, which is where records are durable.
 *
 * The store holds at any time what was put up to some moment, whole records only: groups of rows are written one after the other, each
 * in one batch, and what is put without a pause is in one group.
 *
 * After a write that failed nothing is written any more. Readers go on seeing what they saw, because what was decided last rests on
 * it; whoever goes on does so with another WriteBehind, on what the store holds once `written` of this one has rejected.
 */

import { EngineError } from '@engine/domain';
import type { Cancellable, Scheduler } from '@engine/runtime';
import { Deferred } from '@engine/stdx';
import type { KvBatch, KvEntry, KvRange, KvReader, KvStore, RowSink } from '@engine/storage';

/** Rows wait so long for others, in ms, before they are written. */
export const WRITE_DELAY_MS = 100;

/** From so many bytes on they wait no longer. */
const GROUP_BYTES_MIN = 256 * 1024;

/** What may be unwritten, in bytes, before records have to wait. */
const UNWRITTEN_BYTES_MAX = 8 * 1024 * 1024;

/** What a row takes beside key and value. */
const ROW_OVERHEAD_BYTES = 128;

interface Row {
  readonly key: Uint8Array;
  /** Undefined: deleted. */
  readonly value: Uint8Array | undefined;
}

/** Rows that are written together. */
class Group {
  readonly rows = new Map<string, Row>();
  /** Resolves when they are written, or never will be. */
  readonly settled = new Deferred<undefined>();
  /** Of all rows that were put: one that was put again counts again. */
  bytes = 0;
  /** Somebody waits until it is written. */
  isAwaited = false;

  get isLarge(): boolean {
    return this.bytes >= GROUP_BYTES_MIN;
  }
}

export interface WriteBehindDependencies {
  readonly store: KvStore;
  readonly scheduler: Scheduler;
}

export class WriteBehind implements KvReader, RowSink {
  readonly #store: KvStore;
  readonly #scheduler: Scheduler;
  readonly #onFailed = new Set<(error: unknown) => void>();
  /** Takes what is put. */
  #open: Group | undefined;
  /** On its way to the store; after a failure the one that did not get there. */
  #writing: Group | undefined;
  #timer: Cancellable | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor({ store, scheduler }: WriteBehindDependencies) {
    this.#store = store;
    this.#scheduler = scheduler;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** True when so much is unwritten that `written` should be waited for. */
  get isFull(): boolean {
    return (this.#open?.bytes ?? 0) + (this.#writing?.bytes ?? 0) >= UNWRITTEN_BYTES_MAX;
  }

  /** `listener` hears of the failure, once, before anybody who waits does. It must not throw. */
  onFailed(listener: (error: unknown) => void): Disposable {
    this.#onFailed.add(listener);
    return { [Symbol.dispose]: () => void this.#onFailed.delete(listener) };
  }

  get(key: Uint8Array): Uint8Array | undefined {
    if (this.#open === undefined && this.#writing === undefined) return this.#store.get(key);
    const name = nameOf(key);
    const row = this.#open?.rows.get(name) ?? this.#writing?.rows.get(name);
    return row === undefined ? this.#store.get(key) : row.value?.slice();
  }

  /**
   * As of a moment after the call: what is unwritten is written first. Rejects with EngineError `storage` when that or the scan fails.
   */
  async scan(range: KvRange): Promise<readonly KvEntry[]> {
    await this.written();
    return this.#store.scan(range);
  }

  /** What is put and deleted without an `await` or `written` between is written together. Throws EngineError `storage` after a failure. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.#set(key, value.slice());
  }

  /** As `put`. */
  del(key: Uint8Array): void {
    this.#set(key, undefined);
  }

  /**
   * Resolves when everything put so far is in the store, and waits for no other rows. Rejects with EngineError `storage` after a
   * failure, once no write is under way any more.
   */
  async written(): Promise<void> {
    const last = this.#open ?? this.#writing;
    if (last !== undefined) {
      last.isAwaited = true;
      void this.#write();
      await last.settled.promise;
    }
    this.#requireSound();
  }

  /** What was put last must not be written: as if its write had failed. */
  fail(error: unknown): void {
    if (this.hasFailed) return;
    this.#failure = { error };
    this.#timer?.cancel();
    if (this.#writing === undefined) this.#open?.settled.resolve(undefined);
    for (const listener of this.#onFailed) listener(error);
  }

  #set(key: Uint8Array, value: Uint8Array | undefined): void {
    this.#requireSound();
    const group = (this.#open ??= this.#begin());
    const wasLarge = group.isLarge;
    group.rows.set(nameOf(key), { key: key.slice(), value });
    group.bytes += key.length + (value?.length ?? 0) + ROW_OVERHEAD_BYTES;
    if (group.isLarge && !wasLarge) this.#writeSoon(0);
  }

  #begin(): Group {
    this.#writeSoon(WRITE_DELAY_MS);
    return new Group();
  }

  /** Never at once: a record is put row by row. While a group is being written, its end is the beginning of the next. */
  #writeSoon(ms: number): void {
    if (this.#writing !== undefined) return;
    this.#timer?.cancel();
    this.#timer = this.#scheduler.after(ms, () => void this.#write());
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const group = this.#open;
    if (group === undefined || this.#writing !== undefined || this.hasFailed) return;
    this.#timer?.cancel();
    this.#open = undefined;
    this.#writing = group;
    try {
      await this.#batchOf(group).write({ sync: false });
      this.#writing = undefined;
    } catch (error) {
      this.fail(error);
    }
    group.settled.resolve(undefined);
    this.#goOn();
  }

  /** After a write. */
  #goOn(): void {
    const next = this.#open;
    if (next === undefined) return;
    if (this.hasFailed) next.settled.resolve(undefined);
    else if (next.isAwaited || next.isLarge) void this.#write();
    else this.#writeSoon(WRITE_DELAY_MS);
  }

  #batchOf({ rows }: Group): KvBatch {
    const batch = this.#store.batch();
    for (const { key, value } of rows.values()) {
      if (value === undefined) batch.del(key);
      else batch.put(key, value);
    }
    return batch;
  }

  #requireSound(): void {
    if (this.#failure === undefined) return;
    const cause = this.#failure.error;
    throw new EngineError('storage', 'a write of the store failed', { cause });
  }
}

/** A byte is a character: the quickest key of a map that bytes can be. */
function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
}
