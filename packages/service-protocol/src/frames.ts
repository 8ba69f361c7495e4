/**
 * Frames: an 8-byte header (type code u16, flags u16, payload length u32, all big-endian) and a protobuf payload. Frames may be
 * split and merged at any byte. Payloads are views of the received chunk where a frame lies in one chunk, else one copy.
 */
import { concatBytes } from '@engine/stdx';
import type { ProtocolFault } from './fault.js';

export const FRAME_HEADER_BYTES = 8;

/** Flag of commands and run proposals whose sender wants to hear that they are stored. */
const FLAG_ACK_REQUESTED = 0x8000;

export interface Frame {
  readonly kind: 'frame';
  readonly type: number;
  readonly ackRequested: boolean;
  readonly payload: Uint8Array;
}

/** A frame to be sent. */
export interface OutgoingFrame {
  readonly type: number;
  readonly payload: Uint8Array;
  /** What the payload goes on with: large values, which are written as they are instead of being copied. */
  readonly rest?: readonly Uint8Array[];
  readonly ackRequested?: boolean;
}

/** Pieces from this size on are not copied together with others. */
export const LARGE_PIECE_BYTES_MIN = 64 * 1024;

/** A payload from this size on is put together as it comes: all at once it would keep others waiting. */
const LARGE_FRAME_BYTES_MIN = 256 * 1024;

/** Room for a whole payload is taken when this part of it has come, so that a header alone takes none. */
const LARGE_FRAME_PART = 1 / 16;

/** A payload that is being put together. */
interface LargeFrame {
  readonly frame: Frame;
  filled: number;
}

/** Cuts a byte stream into frames. Feed it with `push`, then take with `next` until it returns undefined. */
export class FrameDecoder {
  readonly #payloadBytesLimit: number;
  #head: Uint8Array = new Uint8Array(0);
  #offset = 0;
  /** Chunks behind `#head`. */
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #large: LargeFrame | undefined;
  #fault: ProtocolFault | undefined;

  /** Payloads of `payloadBytesLimit` bytes and more are refused (RT0003) as soon as their header is read. */
  constructor(payloadBytesLimit: number) {
    this.#payloadBytesLimit = payloadBytesLimit;
  }

  /** Adds received bytes. The chunk must not be changed afterwards. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#fault !== undefined) return;
    const rest = this.#large === undefined ? chunk : fill(this.#large, chunk);
    if (rest.length > 0) this.#queueUp(rest);
  }

  #queueUp(chunk: Uint8Array): void {
    if (this.#offset === this.#head.length && this.#queue.length === 0) {
      this.#head = chunk;
      this.#offset = 0;
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
  }

  /** The next whole frame, or undefined if more bytes are needed. After a fault, the fault again and again. */
  next(): Frame | ProtocolFault | undefined {
    if (this.#fault !== undefined) return this.#fault;
    if (this.#large !== undefined) return this.#takeLarge(this.#large);
    if (!this.#has(FRAME_HEADER_BYTES)) return undefined;
    const head = this.#head;
    const start = this.#offset;
    const length = readU32(head, start + 4);
    const type = readU16(head, start);
    if (length >= this.#payloadBytesLimit) return this.#refuse(type, length);
    if (!this.#has(FRAME_HEADER_BYTES + length)) {
      this.#beginLarge(length);
      return undefined;
    }
    const payloadStart = this.#offset + FRAME_HEADER_BYTES;
    this.#offset = payloadStart + length;
    return {
      kind: 'frame',
      type,
      ackRequested: (readU16(head, start + 2) & FLAG_ACK_REQUESTED) !== 0,
      payload: this.#head.subarray(payloadStart, payloadStart + length),
    };
  }

  /** Bytes received and not yet taken; not 0 at the end of a stream = a torn frame. */
  get bufferedBytes(): number {
    const large = this.#large === undefined ? 0 : FRAME_HEADER_BYTES + this.#large.filled;
    return this.#head.length - this.#offset + this.#queuedBytes + large;
  }

  /** Payload bytes of a frame that began and is not complete, received or not. Call it when `next` returned undefined. */
  get expectedBytes(): number {
    if (this.#large !== undefined) return this.#large.frame.payload.length;
    const isHeaderThere = this.#head.length - this.#offset >= FRAME_HEADER_BYTES;
    return isHeaderThere ? readU32(this.#head, this.#offset + 4) : 0;
  }

  #beginLarge(length: number): void {
    const received = this.bufferedBytes - FRAME_HEADER_BYTES;
    if (length < LARGE_FRAME_BYTES_MIN || received < length * LARGE_FRAME_PART) return;
    const head = this.#head;
    const start = this.#offset;
    const frame = {
      kind: 'frame',
      type: readU16(head, start),
      ackRequested: (readU16(head, start + 2) & FLAG_ACK_REQUESTED) !== 0,
      payload: new Uint8Array(length),
    } as const;
    const large = { frame, filled: 0 };
    fill(large, head.subarray(start + FRAME_HEADER_BYTES));
    for (const chunk of this.#queue) fill(large, chunk);
    this.#clear();
    this.#large = large;
  }

  #takeLarge({ frame, filled }: LargeFrame): Frame | undefined {
    if (filled < frame.payload.length) return undefined;
    this.#large = undefined;
    return frame;
  }

  #clear(): void {
    this.#head = new Uint8Array(0);
    this.#offset = 0;
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  /** Makes `count` bytes contiguous at the head, if that many have come. Each byte is copied at most twice. */
  #has(count: number): boolean {
    if (this.#head.length - this.#offset >= count) return true;
    if (this.bufferedBytes < count) return false;
    this.#head = concatBytes([this.#head.subarray(this.#offset), ...this.#queue]);
    this.#offset = 0;
    this.#queue = [];
    this.#queuedBytes = 0;
    return true;
  }

  #refuse(type: number, length: number): ProtocolFault {
    this.#clear();
    this.#fault = {
      kind: 'fault',
      code: 'RT0003',
      message: `message of type 0x${type.toString(16).padStart(4, '0')} has ${length.toString()} bytes, the limit is ${this.#payloadBytesLimit.toString()}`,
    };
    return this.#fault;
  }
}

/** Copies what fits of a chunk into the payload and gives back the rest. */
function fill(large: LargeFrame, chunk: Uint8Array): Uint8Array {
  const { payload } = large.frame;
  const count = Math.min(chunk.length, payload.length - large.filled);
  payload.set(count === chunk.length ? chunk : chunk.subarray(0, count), large.filled);
  large.filled += count;
  return chunk.subarray(count);
}

/** One frame as bytes. */
export function encodeFrame(frame: OutgoingFrame): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEADER_BYTES + payloadBytes(frame));
  writeFrame(bytes, 0, frame);
  return bytes;
}

/** All frames, one behind the other, in one array: one write, one copy of each payload. */
export function encodeFrames(frames: readonly OutgoingFrame[]): Uint8Array {
  let length = 0;
  for (const frame of frames) length += FRAME_HEADER_BYTES + payloadBytes(frame);
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const frame of frames) offset = writeFrame(bytes, offset, frame);
  return bytes;
}

/** Frames as pieces to be written one behind the other: small frames together, large payloads as they are, not copied. */
export function encodePieces(frames: readonly OutgoingFrame[]): Uint8Array[] {
  if (frames.length > 0 && !frames.some(isLargeFrame)) return [encodeFrames(frames)];
  const pieces: Uint8Array[] = [];
  let small: OutgoingFrame[] = [];
  const flush = (): void => {
    if (small.length > 0) pieces.push(encodeFrames(small));
    small = [];
  };
  for (const frame of frames) {
    if (!isLargeFrame(frame)) {
      small.push(frame);
      continue;
    }
    flush();
    const header = new Uint8Array(FRAME_HEADER_BYTES);
    writeHeader(header, 0, frame);
    pieces.push(header, frame.payload, ...(frame.rest ?? []));
  }
  flush();
  return pieces;
}

/** True for a frame whose payload is not worth a copy: `encodePieces` writes it as it is. */
export function isLargeFrame({ payload, rest }: OutgoingFrame): boolean {
  return rest !== undefined || payload.length >= LARGE_PIECE_BYTES_MIN;
}

function payloadBytes({ payload, rest }: OutgoingFrame): number {
  let length = payload.length;
  if (rest !== undefined) for (const piece of rest) length += piece.length;
  return length;
}

/** Gives back where the next one goes. */
function writeFrame(bytes: Uint8Array, start: number, frame: OutgoingFrame): number {
  const { payload, rest } = frame;
  let offset = writeHeader(bytes, start, frame);
  bytes.set(payload, offset);
  offset += payload.length;
  if (rest === undefined) return offset;
  for (const piece of rest) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return offset;
}

function writeHeader(bytes: Uint8Array, offset: number, frame: OutgoingFrame): number {
  const length = payloadBytes(frame);
  bytes[offset] = frame.type >>> 8;
  bytes[offset + 1] = frame.type;
  bytes[offset + 2] = frame.ackRequested === true ? FLAG_ACK_REQUESTED >>> 8 : 0;
  bytes[offset + 4] = length >>> 24;
  bytes[offset + 5] = length >>> 16;
  bytes[offset + 6] = length >>> 8;
  bytes[offset + 7] = length;
  return offset + FRAME_HEADER_BYTES;
}

function readU16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

function readU32(bytes: Uint8Array, offset: number): number {
  return ((readU16(bytes, offset) << 16) | readU16(bytes, offset + 2)) >>> 0;
}
