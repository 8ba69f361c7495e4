/** Rows and messages of the log, mapped. */

import { missing, rowCodec, type RowCodec } from '../codec.js';
import * as gen from '../gen/engine/log/v1/record.js';

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

/** Time of the last record of a partition, in ms since 1970. */
export const recordTimeRow: RowCodec<number> = rowCodec('record-time', gen.RecordTime, {
  toWire: (at: number): gen.RecordTime => ({ at }),
  fromWire: (message) => message.at,
});

/** Which generation of a partition's rows counts, and the format of the rows. */
export interface StoredGeneration {
  readonly format: number;
  readonly generation: number;
}

export const generationRow: RowCodec<StoredGeneration> = rowCodec('generation', gen.Generation, {
  toWire: (row: StoredGeneration): gen.Generation => row,
  fromWire: (message): StoredGeneration => message,
});

/** One message of a log that is shipped between machines: a record, a part of one, or an announcement. */
export interface LogMessage {
  readonly format: number;
  readonly epoch: bigint;
  readonly sequence: bigint;
  /** Chain value after the whole record. */
  readonly chain: bigint;
  /** The content of the record, or this part of it. */
  readonly content: Uint8Array;
  /** Mutations in the whole record. */
  readonly mutationCount: number;
  /** 0..partCount - 1. */
  readonly part: number;
  /** At least 1. */
  readonly partCount: number;
  readonly isAnnouncement: boolean;
}

/** What the first record of an epoch says. */
export interface LogAnnouncement {
  readonly cluster: string;
  readonly partition: number;
  readonly incarnation: bigint;
  /** Who leads from here on. */
  readonly node: string;
}

export const recordRow: RowCodec<LogMessage> = rowCodec('record', gen.Record, {
  toWire: (row: LogMessage): gen.Record => row,
  fromWire: (message): LogMessage => {
    if (message.format === 0) missing('record format');
    if (message.part >= message.partCount) missing('part of a record');
    return message;
  },
});

export const announcementRow: RowCodec<LogAnnouncement> = rowCodec(
  'announcement',
  gen.Announcement,
  {
    toWire: (row: LogAnnouncement): gen.Announcement => row,
    fromWire: (message): LogAnnouncement => message,
  },
);
