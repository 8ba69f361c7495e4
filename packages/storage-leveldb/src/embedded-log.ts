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
import type { KvStore, PartitionPlace } from '@engine/storage';
import { assert } from '@engine/stdx';

import { ChainRows, keptBytesOf } from './chain-rows.js';
import { RecordStager, type OpenedPartition } from './record-stager.js';

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
    const keptBytes = keptBytesOf(writeBufferBytes);
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
        from = log.stager.stageRows(batch, record, from);
        if (from >= record.mutations.bytes.length) break;
        await othersTurn();
      }
      this.#writtenBytes += log.stager.stageLink(batch, record, this.#writtenBytes);
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

/** The log of one partition: queues its records, knows its position. */
class EmbeddedPartitionLog implements PartitionLog {
  readonly stager: RecordStager;
  readonly #embedded: EmbeddedLog;
  #position: LogPosition;
  #isInFlight = false;

  constructor(opened: OpenedPartition, embedded: EmbeddedLog) {
    this.stager = new RecordStager(opened);
    this.#embedded = embedded;
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

  applied({ epoch, sequence, chain }: LogRecord): void {
    this.#position = { epoch, sequence, chain };
    this.#isInFlight = false;
  }
}
