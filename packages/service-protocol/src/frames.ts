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
  readonly ackRequested?: boolean;
}

/** Cuts a byte stream into frames. Feed it with `push`, then take with `next` until it returns undefined. */
export class FrameDecoder {
  readonly #payloadBytesLimit: number;
  #head: Uint8Array = new Uint8Array(0);
  #offset = 0;
  /** Chunks behind `#head`. */
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #fault: ProtocolFault | undefined;

  /** Payloads of `payloadBytesLimit` bytes and more are refused (RT0003) as soon as their header is read. */
  constructor(payloadBytesLimit: number) {
    this.#payloadBytesLimit = payloadBytesLimit;
  }

  /** Adds received bytes. The chunk must not be changed afterwards. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#fault !== undefined) return;
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
    if (!this.#has(FRAME_HEADER_BYTES)) return undefined;
    const head = this.#head;
    const start = this.#offset;
    const length = readU32(head, start + 4);
    const type = readU16(head, start);
    if (length >= this.#payloadBytesLimit) return this.#refuse(type, length);
    if (!this.#has(FRAME_HEADER_BYTES + length)) return undefined;
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
    return this.#head.length - this.#offset + this.#queuedBytes;
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
    this.#head = new Uint8Array(0);
    this.#offset = 0;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#fault = {
      kind: 'fault',
      code: 'RT0003',
      message: `message of type 0x${type.toString(16).padStart(4, '0')} has ${length.toString()} bytes, the limit is ${this.#payloadBytesLimit.toString()}`,
    };
    return this.#fault;
  }
}

/** One frame as bytes. */
export function encodeFrame(frame: OutgoingFrame): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEADER_BYTES + frame.payload.length);
  writeFrame(bytes, 0, frame);
  return bytes;
}

/** All frames, one behind the other, in one array: one write, one copy of each payload. */
export function encodeFrames(frames: readonly OutgoingFrame[]): Uint8Array {
  let length = 0;
  for (const frame of frames) length += FRAME_HEADER_BYTES + frame.payload.length;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const frame of frames) offset = writeFrame(bytes, offset, frame);
  return bytes;
}

function writeFrame(bytes: Uint8Array, offset: number, frame: OutgoingFrame): number {
  const length = frame.payload.length;
  bytes[offset] = frame.type >>> 8;
  bytes[offset + 1] = frame.type;
  bytes[offset + 2] = frame.ackRequested === true ? FLAG_ACK_REQUESTED >>> 8 : 0;
  bytes[offset + 4] = length >>> 24;
  bytes[offset + 5] = length >>> 16;
  bytes[offset + 6] = length >>> 8;
  bytes[offset + 7] = length;
  bytes.set(frame.payload, offset + FRAME_HEADER_BYTES);
  return offset + FRAME_HEADER_BYTES + length;
}

function readU16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

function readU32(bytes: Uint8Array, offset: number): number {
  return ((readU16(bytes, offset) << 16) | readU16(bytes, offset + 2)) >>> 0;
}
