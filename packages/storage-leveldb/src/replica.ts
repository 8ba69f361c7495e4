/**
 * The store of a partition whose log is kept on other machines: applies records that are durable there. A record is applied once its
 * rows, its link and its position are read through `writes`; they reach the disk together, a little later and without a sync, because
 * what a crash takes can be read again from the log.
 */

import { setImmediate as othersTurn } from 'node:timers/promises';

import type { LogPosition, LogRecord } from '@engine/log';
import type { KvStore, PartitionPlace, RowSink } from '@engine/storage';
import { assert } from '@engine/stdx';

import { ChainRows, keptBytesOf } from './chain-rows.js';
import { RecordStager } from './record-stager.js';
import type { WriteBehind } from './write-behind.js';

/** Larger records take turns of the event loop, and a batch of their own that is waited for. */
const SHARED_RECORD_BYTES_MAX = 256 * 1024;

export interface ReplicaOptions {
  readonly place: PartitionPlace;
  /** Write buffer of the store. */
  readonly writeBufferBytes?: number | undefined;
}

export interface ReplicaDependencies {
  readonly store: KvStore;
  /** On `store`, for all replicas in it. Nothing of this one is unwritten when it is opened. */
  readonly writes: WriteBehind;
}

export class Replica {
  readonly #store: KvStore;
  readonly #writes: WriteBehind;
  readonly #rows: ChainRows;
  readonly #stager: RecordStager;
  #position: LogPosition;
  #writtenBytes: number;

  private constructor(
    { store, writes }: ReplicaDependencies,
    { place, rows }: { readonly place: PartitionPlace; readonly rows: ChainRows },
    found: { readonly position: LogPosition; readonly writtenBytes: number },
  ) {
    this.#store = store;
    this.#writes = writes;
    this.#rows = rows;
    this.#stager = new RecordStager({ place, rows });
    this.#position = found.position;
    this.#writtenBytes = found.writtenBytes;
  }

  /**
   * Verifies what the store holds. Effects: none.
   *
   * Throws EngineError `storage` when the store lost writes from its middle: rebuild the partition from a snapshot and the log.
   */
  static async open(
    { place, writeBufferBytes }: ReplicaOptions,
    dependencies: ReplicaDependencies,
  ): Promise<Replica> {
    const rows = new ChainRows({ place, keptBytes: keptBytesOf(writeBufferBytes) });
    const found = await rows.load(dependencies.store);
    return new Replica(dependencies, { place, rows }, found);
  }

  /** After the last record that was applied; LOG_START for an empty store. */
  get position(): LogPosition {
    return this.#position;
  }

  /** About how many bytes were ever written to the partition; a restored one goes on from its snapshot. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Value of the chain at a sequence; undefined beyond the position and where its row was trimmed. */
  chainAt(sequence: bigint): bigint | undefined {
    return this.#rows.chainAt(this.#writes, sequence);
  }

  /**
   * Applies the record after the position. One at a time; after a rejection, and after a failure of `writes`, the replica must be
   * opened anew.
   */
  readonly apply = async (record: LogRecord): Promise<void> => {
    const { epoch, sequence, chain } = record;
    assert(sequence === this.#position.sequence + 1n, 'records are applied without a gap');
    assert(epoch >= this.#position.epoch, 'epochs grow');
    if (record.mutations.bytes.length > SHARED_RECORD_BYTES_MAX) await this.#writeAlone(record);
    else {
      if (this.#writes.isFull) await this.#writes.written();
      this.#put(record);
    }
    this.#position = { epoch, sequence, chain };
  };

  #put(record: LogRecord): void {
    try {
      this.#stager.stageRows(this.#writes, record, 0);
      this.#stageLink(this.#writes, record);
    } catch (error) {
      // A piece of a record must never reach the store.
      this.#writes.fail(error);
      throw error;
    }
  }

  /** Behind all that was put before, because what is put is read first. */
  async #writeAlone(record: LogRecord): Promise<void> {
    await this.#writes.written();
    const batch = this.#store.batch();
    for (let from = 0; ;) {
      from = this.#stager.stageRows(batch, record, from);
      if (from >= record.mutations.bytes.length) break;
      await othersTurn();
    }
    this.#stageLink(batch, record);
    await batch.write({ sync: false });
  }

  #stageLink(sink: RowSink, record: LogRecord): void {
    this.#writtenBytes += this.#stager.stageLink(sink, record, this.#writtenBytes);
  }
}
