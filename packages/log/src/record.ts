/**
 * Records and the chain of checksums that ties each to all before it, across epochs. The chain value after a record is the
 * checksum of (chain before, epoch, sequence, checksum of the mutations): two stores with the same value hold the same history.
 */

import { assert } from '@engine/stdx';
import type { EncodedMutations } from '@engine/wire';

/** Version of the format of records that this code writes. */
export const RECORD_FORMAT = 1;

/** A 64-bit checksum, one-shot and synchronous: XXH3 (domain `Hashes`). */
export type Checksum = (bytes: Uint8Array) => bigint;

/** A place in the log of a partition. */
export interface LogPosition {
  /** Grows with every leader. */
  readonly epoch: bigint;
  /** Number of the last record; 0 before the first. Dense across epochs. */
  readonly sequence: bigint;
  /** Chain value after that record. */
  readonly chain: bigint;
}

export const LOG_START: LogPosition = { epoch: 0n, sequence: 0n, chain: 0n };

/** What one append makes durable. Its position is the one after it. */
export interface LogRecord extends LogPosition {
  readonly mutations: EncodedMutations;
}

const scratch = new Uint8Array(32);
const scratchView = new DataView(scratch.buffer);

/** The chain value after a record. */
export function chainAfter(
  previous: bigint,
  record: Pick<LogRecord, 'epoch' | 'sequence' | 'mutations'>,
  checksum: Checksum,
): bigint {
  const content = checksum(record.mutations.bytes);
  scratchView.setBigUint64(0, previous);
  scratchView.setBigUint64(8, record.epoch);
  scratchView.setBigUint64(16, record.sequence);
  scratchView.setBigUint64(24, content);
  return checksum(scratch);
}

/** Numbers and chains the records of one leader. */
export class RecordWriter {
  readonly #checksum: Checksum;
  #last: LogPosition;

  /** `start` is the position of the log as this leader opened it. */
  constructor(start: LogPosition, checksum: Checksum) {
    this.#last = start;
    this.#checksum = checksum;
  }

  /** Position after the last record made. */
  get last(): LogPosition {
    return this.#last;
  }

  /** The record that follows the last one. */
  next(mutations: EncodedMutations): LogRecord {
    const { epoch, sequence, chain } = this.#last;
    const unchained = { epoch, sequence: sequence + 1n, mutations };
    const record = {
      epoch,
      sequence: unchained.sequence,
      chain: chainAfter(chain, unchained, this.#checksum),
      mutations,
    };
    this.#last = record;
    return record;
  }
}

/** Holds when `record` may be appended after `last`. Throws AssertionError otherwise. */
export function assertContinues(last: LogPosition, record: LogRecord): void {
  assert(record.epoch === last.epoch, 'a record carries the epoch of its leader');
  assert(record.sequence === last.sequence + 1n, 'a record follows the one before without a gap');
}
