/** Puts the records of one partition into batches: their rows, the link of the chain, and the position. */

import type { LogPosition, LogRecord } from '@engine/log';
import { partitionPrefix, type RowSink, type PartitionPlace } from '@engine/storage';
import { visitMutations } from '@engine/wire';

import type { ChainRows } from './chain-rows.js';

/** Bytes of one record that are handed to the store in one turn of the event loop; about 5 ms. */
const STAGED_BYTES_PER_TURN_MAX = 4 * 1024 * 1024;

/** A partition whose rows were verified. */
export interface OpenedPartition {
  readonly place: PartitionPlace;
  readonly rows: ChainRows;
  readonly position: LogPosition;
}

export class RecordStager {
  readonly #rows: ChainRows;
  readonly #prefix: Uint8Array;
  /** Scratch for keys: the prefix stays, the rest is copied in. */
  #key: Uint8Array;

  constructor({ place, rows }: Pick<OpenedPartition, 'place' | 'rows'>) {
    this.#rows = rows;
    this.#prefix = partitionPrefix(place);
    this.#key = this.#scratch(512);
  }

  /** Puts rows of the record, from the byte `from` of its mutations on. Returns where the next call begins. */
  stageRows(sink: RowSink, { mutations }: LogRecord, from: number): number {
    const prefixBytes = this.#prefix.length;
    const part = { from, bytesMax: STAGED_BYTES_PER_TURN_MAX };
    const stage = (key: Uint8Array, value: Uint8Array | undefined): void => {
      const length = prefixBytes + key.length;
      if (length > this.#key.length) this.#key = this.#scratch(length * 2);
      this.#key.set(key, prefixBytes);
      const full = this.#key.subarray(0, length);
      if (value === undefined) sink.del(full);
      else sink.put(full, value);
    };
    return visitMutations(mutations, stage, part);
  }

  /** Puts the link of the record. Returns about how many bytes the whole record writes. */
  stageLink(sink: RowSink, record: LogRecord, writtenBytes: number): number {
    const { epoch, sequence, chain, mutations } = record;
    const bytes = mutations.bytes.length + mutations.count * this.#prefix.length;
    return bytes + this.#rows.stage(sink, { epoch, sequence, chain }, writtenBytes);
  }

  #scratch(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    bytes.set(this.#prefix);
    return bytes;
  }
}
