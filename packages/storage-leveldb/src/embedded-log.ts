/**
 * The log of all partitions of a process that has no other machine to ask: LevelDB's own write-ahead log. One commit loop serves
 * all partitions. While a batch is on its way to the disk, records queue up; all of them go into the next single synced batch.
 *
 * Promises: a commit resolves when its record is durable and applied. When a synced write fails nobody knows what is on the
 * disk: `onFatal` is called once, nothing resolves any more, and the process must end; the reopened store is the truth.
 */

import { setImmediate as othersTurn } from 'node:timers/promises';

import { EngineError, isEngineError, type PartitionId } from '@engine/domain';
import { assertContinues, type LogPosition, type LogRecord, type PartitionLog } from '@engine/log';
import { partitionPrefix, type KvBatch, type KvStore, type PartitionPlace } from '@engine/storage';
import { assert } from '@engine/stdx';
import { visitMutations } from '@engine/wire';

import { ChainRows } from './chain-rows.js';
import { WRITE_BUFFER_BYTES_DEFAULT } from './level-kv-store.js';

/** Bytes of one record that are handed to the store in one turn of the event loop; about 5 ms. */
const STAGED_BYTES_PER_TURN_MAX = 4 * 1024 * 1024;

/** Write buffers for which the rows against lost writes are kept. */
const KEPT_WRITE_BUFFERS = 4;

export interface EmbeddedLogOptions {
  readonly places: readonly PartitionPlace[];
  /** Write buffer of the store. */
  readonly writeBufferBytes?: number | undefined;
}

export interface EmbeddedLogDependencies {
  readonly store: KvStore;
  /** Called at most once, when a write to disk failed. */
  readonly onFatal: (error: EngineError) => void;
}

/** A partition whose rows were verified. */
interface OpenedPartition {
  readonly place: PartitionPlace;
  readonly rows: ChainRows;
  readonly position: LogPosition;
}

interface QueuedRecord {
  readonly log: EmbeddedPartitionLog;
  readonly record: LogRecord;
  readonly resolve: () => void;
}

export class EmbeddedLog {
  readonly #store: KvStore;
  readonly #onFatal: (error: EngineError) => void;
  readonly #partitions = new Map<PartitionId, EmbeddedPartitionLog>();
  #queue: QueuedRecord[] = [];
  #running: Promise<void> | undefined;
  #state: 'open' | 'failed' | 'closed' = 'open';
  #writtenBytes = 0;

  private constructor({ store, onFatal }: EmbeddedLogDependencies) {
    this.#store = store;
    this.#onFatal = onFatal;
  }

  /**
   * Opens the logs of `places`: verifies the store and begins a new epoch in each, durable before this resolves.
   *
   * Throws EngineError `storage` when the store lost writes.
   */
  static async open(
    options: EmbeddedLogOptions,
    dependencies: EmbeddedLogDependencies,
  ): Promise<EmbeddedLog> {
    const log = new EmbeddedLog(dependencies);
    await log.#begin(options);
    return log;
  }

  /** The log of one of the partitions that were opened. */
  partition(id: PartitionId): PartitionLog {
    const log = this.#partitions.get(id);
    assert(log !== undefined, 'only logs of partitions that were opened are asked for');
    return log;
  }

  /** Waits for what is queued and takes nothing more. Does not close the store. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closed';
    await this.#running;
  }

  /** Queues a record; called by the log of its partition. */
  append(log: EmbeddedPartitionLog, record: LogRecord): Promise<void> {
    if (this.#state === 'closed') {
      return Promise.reject(new EngineError('cancelled', 'the log is closed'));
    }
    return new Promise((resolve) => {
      this.#queue.push({ log, record, resolve });
      this.#running ??= this.#run();
    });
  }

  async #begin({ places, writeBufferBytes }: EmbeddedLogOptions): Promise<void> {
    const keptBytes = KEPT_WRITE_BUFFERS * (writeBufferBytes ?? WRITE_BUFFER_BYTES_DEFAULT);
    const opened: OpenedPartition[] = [];
    for (const place of places) {
      const rows = new ChainRows({ place, keptBytes });
      const { position, writtenBytes } = await rows.load(this.#store);
      this.#writtenBytes = Math.max(this.#writtenBytes, writtenBytes);
      opened.push({ place, rows, position });
    }
    const batch = this.#store.batch();
    for (const { place, rows, position } of opened) {
      const begun = { place, rows, position: { ...position, epoch: position.epoch + 1n } };
      rows.stagePosition(batch, begun.position, this.#writtenBytes);
      this.#partitions.set(place.partition, new EmbeddedPartitionLog(begun, this));
    }
    await batch.write({ sync: true });
  }

  /** Writes groups until nothing is queued. Records of one turn of the event loop share a group. */
  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0 && this.#state !== 'failed') {
      const group = this.#queue;
      this.#queue = [];
      try {
        await this.#write(group);
      } catch (error) {
        this.#fail(error);
        return;
      }
      for (const { log, record, resolve } of group) {
        log.applied(record);
        resolve();
      }
    }
    this.#running = undefined;
  }

  async #write(group: readonly QueuedRecord[]): Promise<void> {
    const batch = this.#store.batch();
    for (const { log, record } of group) {
      let from = 0;
      for (;;) {
        from = log.stageRows(batch, record, from);
        if (from >= record.mutations.bytes.length) break;
        await othersTurn();
      }
      this.#writtenBytes += log.stageLink(batch, record, this.#writtenBytes);
    }
    await batch.write({ sync: true });
  }

  #fail(cause: unknown): void {
    this.#state = 'failed';
    const error = isEngineError(cause)
      ? cause
      : new EngineError('storage', 'a record could not be written', { cause });
    this.#onFatal(error);
  }
}

/** The log of one partition: stages its records, knows its position. */
class EmbeddedPartitionLog implements PartitionLog {
  readonly #embedded: EmbeddedLog;
  readonly #rows: ChainRows;
  readonly #prefix: Uint8Array;
  /** Scratch for keys: the prefix stays, the rest is copied in. */
  #key: Uint8Array;
  #position: LogPosition;
  #isInFlight = false;

  constructor(opened: OpenedPartition, embedded: EmbeddedLog) {
    this.#embedded = embedded;
    this.#rows = opened.rows;
    this.#prefix = partitionPrefix(opened.place);
    this.#key = this.#scratch(512);
    this.#position = opened.position;
  }

  get position(): LogPosition {
    return this.#position;
  }

  commit(record: LogRecord): Promise<void> {
    assert(!this.#isInFlight, 'one record of a partition is in flight at most');
    assertContinues(this.#position, record);
    this.#isInFlight = true;
    return this.#embedded.append(this, record);
  }

  /** Adds rows of the record to the batch, from the byte `from` of its mutations on. Returns where the next call begins. */
  stageRows(batch: KvBatch, { mutations }: LogRecord, from: number): number {
    const prefixBytes = this.#prefix.length;
    const part = { from, bytesMax: STAGED_BYTES_PER_TURN_MAX };
    const stage = (key: Uint8Array, value: Uint8Array | undefined): void => {
      const length = prefixBytes + key.length;
      if (length > this.#key.length) this.#key = this.#scratch(length * 2);
      this.#key.set(key, prefixBytes);
      const full = this.#key.subarray(0, length);
      if (value === undefined) batch.del(full);
      else batch.put(full, value);
    };
    return visitMutations(mutations, stage, part);
  }

  /** Adds the link of the record. Returns about how many bytes the whole record writes. */
  stageLink(batch: KvBatch, record: LogRecord, writtenBytes: number): number {
    const { epoch, sequence, chain, mutations } = record;
    const bytes = mutations.bytes.length + mutations.count * this.#prefix.length;
    return bytes + this.#rows.stage(batch, { epoch, sequence, chain }, writtenBytes);
  }

  applied({ epoch, sequence, chain }: LogRecord): void {
    this.#position = { epoch, sequence, chain };
    this.#isInFlight = false;
  }

  #scratch(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    bytes.set(this.#prefix);
    return bytes;
  }
}
