/** Rows and messages of the log, mapped. */

import { missing, rowCodec, type RowCodec } from '../codec.js';
import * as gen from '../gen/engine/log/v1/record.js';
import type { EncodedMutations } from './mutations.js';

/** Up to where a store has applied the log of a partition. */
export interface StoredPosition {
  readonly epoch: bigint;
  readonly sequence: bigint;
  readonly chain: bigint;
  /** Oldest sequence that still has its chain row. */
  readonly oldest: bigint;
  readonly writtenBytes: number;
}

/** Value of the chain after one record. */
export interface StoredChainLink {
  readonly chain: bigint;
  readonly writtenBytes: number;
}

export const positionRow: RowCodec<StoredPosition> = rowCodec('position', gen.Position, {
  toWire: (row: StoredPosition): gen.Position => row,
  fromWire: (message): StoredPosition => message,
});

export const chainLinkRow: RowCodec<StoredChainLink> = rowCodec('chain', gen.ChainLink, {
  toWire: (row: StoredChainLink): gen.ChainLink => row,
  fromWire: (message): StoredChainLink => message,
});

/** A record as it stands in a log that is shipped between machines. */
export interface WireRecord {
  readonly format: number;
  readonly epoch: bigint;
  readonly sequence: bigint;
  readonly chain: bigint;
  readonly mutations: EncodedMutations;
}

/** The count of mutations is not stored: it is counted when a record is read. */
export const recordRow: RowCodec<WireRecord> = rowCodec('record', gen.Record, {
  toWire: (row: WireRecord): gen.Record => ({
    format: row.format,
    epoch: row.epoch,
    sequence: row.sequence,
    chain: row.chain,
    mutations: row.mutations.bytes,
  }),
  fromWire: (message): WireRecord => {
    if (message.format === 0) missing('record format');
    const count = gen.Mutations.decode(message.mutations).mutations.length;
    return {
      format: message.format,
      epoch: message.epoch,
      sequence: message.sequence,
      chain: message.chain,
      mutations: { count, bytes: message.mutations },
    };
  },
});
