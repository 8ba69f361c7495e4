/**
 * Records ⇄ messages of the stream. A record over the message limit becomes parts, contiguous, each with {epoch, sequence, i of n,
 * chain}; it takes effect with the last one. An announcement after a part voids the torn record.
 */

import {
  chainAfter,
  RECORD_FORMAT,
  type Checksum,
  type LogBreak,
  type LogPosition,
  type LogRecord,
} from '@engine/log';
import { EngineError } from '@engine/domain';
import { concatBytes } from '@engine/stdx';
import {
  announcementRow,
  encodeRow,
  NO_MUTATIONS,
  recordRow,
  type LogAnnouncement,
  type LogMessage,
} from '@engine/wire';

import type { LogIdentity } from '../subjects.js';

/** Most that the fields around the content of a message take. */
export const MESSAGE_FIELDS_BYTES_MAX = 128;

/** A message as its reader looks at it. */
export type MessageHead = Omit<LogMessage, 'content'>;

/** The payloads of a record, each at most `payloadBytesMax`. */
export function encodeRecord(record: LogRecord, payloadBytesMax: number): readonly Uint8Array[] {
  const { epoch, sequence, chain, mutations } = record;
  const contentBytesMax = payloadBytesMax - MESSAGE_FIELDS_BYTES_MAX;
  const partCount = Math.max(1, Math.ceil(mutations.bytes.length / contentBytesMax));
  return Array.from({ length: partCount }, (_, part) =>
    encodeRow(recordRow, {
      format: RECORD_FORMAT,
      epoch,
      sequence,
      chain,
      content: mutations.bytes.subarray(part * contentBytesMax, (part + 1) * contentBytesMax),
      mutationCount: mutations.count,
      part,
      partCount,
      isAnnouncement: false,
    }),
  );
}

export interface AnnouncementPlace {
  readonly after: LogPosition;
  readonly epoch: bigint;
  readonly node: string;
}

/** The announcement of an epoch: as the record that replicas apply, and as the message. */
export function encodeAnnouncement(
  { after, epoch, node }: AnnouncementPlace,
  { cluster, partition, incarnation }: LogIdentity,
  checksum: Checksum,
): { readonly record: LogRecord; readonly payload: Uint8Array } {
  const content = encodeRow(announcementRow, { cluster, partition, incarnation, node });
  const place = { epoch, sequence: after.sequence + 1n };
  // The chain covers what the announcement says, so every value of it names cluster, partition and incarnation.
  const chain = chainAfter(after.chain, { ...place, mutations: mutationsOf(content, 0) }, checksum);
  const message = { ...place, chain, content, mutationCount: 0, part: 0, partCount: 1 };
  const payload = encodeRow(recordRow, {
    ...message,
    format: RECORD_FORMAT,
    isAnnouncement: true,
  });
  return { record: { ...place, chain, mutations: NO_MUTATIONS }, payload };
}

/** Throws EngineError `storage` for bytes that are no message of a log, or one of a newer format. */
export function decodeMessage(payload: Uint8Array): LogMessage {
  const message = recordRow.read(payload);
  if (message.format > RECORD_FORMAT) {
    const text = `a record has format ${String(message.format)}; this server reads ${String(RECORD_FORMAT)}`;
    throw new EngineError('RT0009', text);
  }
  return message;
}

export interface AssemblerOptions {
  readonly identity: LogIdentity;
  readonly checksum: Checksum;
  readonly from: LogPosition;
}

/** Takes the messages behind a position, gives the records, each verified against the chain. */
export class RecordAssembler {
  readonly #identity: LogIdentity;
  readonly #checksum: Checksum;
  #position: LogPosition;
  #parts: LogMessage[] = [];

  constructor({ identity, checksum, from }: AssemblerOptions) {
    this.#identity = identity;
    this.#checksum = checksum;
    this.#position = from;
  }

  /** After the last whole record that was taken. */
  get position(): LogPosition {
    return this.#position;
  }

  /**
   * The record that this message completes; undefined when parts are missing. After a break nothing may be taken.
   *
   * Throws EngineError RT0009 for a format that this code does not read.
   */
  take(payload: Uint8Array): LogRecord | LogBreak | undefined {
    let message: LogMessage;
    try {
      message = decodeMessage(payload);
    } catch (error) {
      if (error instanceof EngineError && error.code === 'RT0009') throw error;
      return this.#broken('the message is damaged');
    }
    if (message.sequence !== this.#position.sequence + 1n) {
      return this.#broken(`record ${String(message.sequence)} stands in its place`);
    }
    return message.isAnnouncement ? this.#takeAnnouncement(message) : this.#takePart(message);
  }

  #takeAnnouncement(message: LogMessage): LogRecord | LogBreak {
    if (message.epoch <= this.#position.epoch) return this.#broken('an epoch does not grow');
    const said = readAnnouncement(message.content);
    const { cluster, partition, incarnation } = this.#identity;
    const isOurs =
      said?.cluster === cluster && said.partition === partition && said.incarnation === incarnation;
    if (!isOurs) return this.#broken('the record belongs to another log');
    this.#parts = [];
    return this.#complete(message, message.content, true);
  }

  #takePart(message: LogMessage): LogRecord | LogBreak | undefined {
    if (message.epoch !== this.#position.epoch) return this.#broken('an epoch was not announced');
    const first = this.#parts[0];
    if (message.part !== this.#parts.length || !isSameRecord(first ?? message, message)) {
      return this.#broken('parts do not fit');
    }
    this.#parts.push(message);
    if (this.#parts.length < message.partCount) return undefined;
    const content = concatBytes(this.#parts.map((part) => part.content));
    this.#parts = [];
    return this.#complete(message, content, false);
  }

  #complete(
    message: LogMessage,
    content: Uint8Array,
    isAnnouncement: boolean,
  ): LogRecord | LogBreak {
    const { epoch, sequence, chain, mutationCount } = message;
    const mutations = mutationsOf(content, mutationCount);
    const wanted = chainAfter(this.#position.chain, { epoch, sequence, mutations }, this.#checksum);
    if (wanted !== chain) return this.#broken('the chain does not continue');
    this.#position = { epoch, sequence, chain };
    return { epoch, sequence, chain, mutations: isAnnouncement ? NO_MUTATIONS : mutations };
  }

  #broken(why: string): LogBreak {
    return { kind: 'diverged', sequence: this.#position.sequence + 1n, why };
  }
}

/** True for the message that completes a record. */
export function isLastPart({ part, partCount }: MessageHead): boolean {
  return part + 1 === partCount;
}

export function isLogBreak(value: LogRecord | LogBreak | undefined): value is LogBreak {
  return value !== undefined && 'kind' in value;
}

function isSameRecord(a: MessageHead, b: MessageHead): boolean {
  return a.chain === b.chain && a.partCount === b.partCount && a.mutationCount === b.mutationCount;
}

function readAnnouncement(content: Uint8Array): LogAnnouncement | undefined {
  try {
    return announcementRow.read(content);
  } catch {
    return undefined;
  }
}

function mutationsOf(bytes: Uint8Array, count: number): LogRecord['mutations'] {
  return { bytes, count };
}
