/**
 * The store of a partition whose log is kept on other machines: applies records that are durable there. Rows, link and position of a
 * record are one batch, written without a sync, because what a power cut takes can be read again from the log.
 */

import { setImmediate as othersTurn } from 'node:timers/promises';

import type { LogPosition, LogRecord } from '@engine/log';
import type { KvStore, PartitionPlace } from '@engine/storage';
import { assert } from '@engine/stdx';

import { ChainRows, keptBytesOf } from './chain-rows.js';
import { RecordStager } from './record-stager.js';

export interface ReplicaOptions {
  readonly place: PartitionPlace;
  /** Write buffer of the store. */
  readonly writeBufferBytes?: number | undefined;
}

export class Replica {
  readonly #store: KvStore;
  readonly #stager: RecordStager;
  #position: LogPosition;
  #writtenBytes: number;

  private constructor(
    store: KvStore,
    stager: RecordStager,
    found: { readonly position: LogPosition; readonly writtenBytes: number },
  ) {
    this.#store = store;
    this.#stager = stager;
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
    { store }: { readonly store: KvStore },
  ): Promise<Replica> {
    const rows = new ChainRows({ place, keptBytes: keptBytesOf(writeBufferBytes) });
    const found = await rows.load(store);
    return new Replica(store, new RecordStager({ place, rows }), found);
  }

  /** After the last record that was applied; LOG_START for an empty store. */
  get position(): LogPosition {
    return this.#position;
  }

  /** Applies the record after the position. One at a time; after a rejection the store must be opened anew. */
  readonly apply = async (record: LogRecord): Promise<void> => {
    const { epoch, sequence, chain } = record;
    assert(sequence === this.#position.sequence + 1n, 'records are applied without a gap');
    assert(epoch >= this.#position.epoch, 'epochs grow');
    const batch = this.#store.batch();
    for (let from = 0; ;) {
      from = this.#stager.stageRows(batch, record, from);
      if (from >= record.mutations.bytes.length) break;
      await othersTurn();
    }
    this.#writtenBytes += this.#stager.stageLink(batch, record, this.#writtenBytes);
    await batch.write({ sync: false });
    this.#position = { epoch, sequence, chain };
  };
}
