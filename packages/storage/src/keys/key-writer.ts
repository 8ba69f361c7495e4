/**
 * Builds keys whose byte order is the order of their parts. One scratch buffer, reused for every key: what `full` and
 * `relative` return is valid until the next `begin`.
 */

import { invocationIdToBytes, type InvocationId } from '@engine/domain';
import { assert, encodeUtf8 } from '@engine/stdx';

import { PARTITION_PREFIX_BYTES, partitionPrefix, type PartitionPlace } from '../prefixes.js';

const INITIAL_BYTES = 512;
const ID_BYTES = 24;
const PARTITION_KEY_BYTES = 8;

/** Ids whose bytes are remembered; a turn touches the same few invocations again and again. */
const IDS_CACHED_MAX = 4_096;

/** Ends a text in a key; a zero inside a text is followed by ESCAPED, which sorts above it. */
const TERMINATOR = 0x00;
const ESCAPED = 0xff;

export class KeyWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  readonly #ids = new Map<InvocationId, Uint8Array>();

  constructor(place: PartitionPlace) {
    this.#bytes.set(partitionPrefix(place));
  }

  /** Starts the key of a row of `table`. */
  begin(table: number): this {
    this.#length = PARTITION_PREFIX_BYTES;
    return this.u8(table);
  }

  /** The whole store key: a view. */
  full(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The key inside the partition, as records carry it: a view. */
  relative(): Uint8Array {
    return this.#bytes.subarray(PARTITION_PREFIX_BYTES, this.#length);
  }

  u8(value: number): this {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
    return this;
  }

  u16(value: number): this {
    this.#reserve(2);
    this.#view.setUint16(this.#length, value);
    this.#length += 2;
    return this;
  }

  u32(value: number): this {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value);
    this.#length += 4;
    return this;
  }

  u64(value: bigint): this {
    this.#reserve(8);
    this.#view.setBigUint64(this.#length, value);
    this.#length += 8;
    return this;
  }

  /** Any number ≥ 0: as a big-endian double, whose byte order is the numeric order. */
  number(value: number): this {
    assert(value >= 0, 'numbers in keys are not negative');
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value + 0);
    this.#length += 8;
    return this;
  }

  /** Text with its end marked, so that neighbours cannot run into each other. Order: that of the UTF-8 bytes. */
  text(value: string): this {
    this.#reserve(value.length * 2 + 2);
    const start = this.#length;
    const bytes = this.#bytes;
    let position = start;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return this.#textBytes(encodeUtf8(value));
      bytes[position++] = code;
      if (code === 0) bytes[position++] = ESCAPED;
    }
    bytes[position++] = TERMINATOR;
    bytes[position++] = TERMINATOR;
    this.#length = position;
    return this;
  }

  /** ASCII text of a fixed length. */
  ascii(value: string, from: number): this {
    this.#reserve(value.length - from);
    for (let i = from; i < value.length; i++) this.#bytes[this.#length++] = value.charCodeAt(i);
    return this;
  }

  /** 24 bytes: the uuid, which begins with time, then the partition key. New invocations stand together at the end. */
  invocationId(id: InvocationId): this {
    let swapped = this.#ids.get(id);
    if (swapped === undefined) {
      swapped = swappedIdBytes(id);
      if (this.#ids.size >= IDS_CACHED_MAX) this.#ids.clear();
      this.#ids.set(id, swapped);
    }
    this.#reserve(ID_BYTES);
    this.#bytes.set(swapped, this.#length);
    this.#length += ID_BYTES;
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  #textBytes(encoded: Uint8Array): this {
    this.#reserve(encoded.length * 2 + 2);
    for (const byte of encoded) {
      this.#bytes[this.#length++] = byte;
      if (byte === 0) this.#bytes[this.#length++] = ESCAPED;
    }
    this.#bytes[this.#length++] = TERMINATOR;
    this.#bytes[this.#length++] = TERMINATOR;
    return this;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

function swappedIdBytes(id: InvocationId): Uint8Array {
  const bytes = invocationIdToBytes(id);
  const swapped = new Uint8Array(ID_BYTES);
  swapped.set(bytes.subarray(PARTITION_KEY_BYTES));
  swapped.set(bytes.subarray(0, PARTITION_KEY_BYTES), ID_BYTES - PARTITION_KEY_BYTES);
  return swapped;
}
