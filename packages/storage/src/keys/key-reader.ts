/**
 * Takes keys apart again, in the order in which KeyWriter put them together. Off the hot path: only scans read keys.
 *
 * Every part throws EngineError `storage` where the key cannot be one that KeyWriter made.
 */

import { EngineError, invocationIdFromBytes, type InvocationId } from '@engine/domain';
import { decodeUtf8Strict } from '@engine/stdx';

const ID_BYTES = 24;
const PARTITION_KEY_BYTES = 8;

export class KeyReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position: number;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8));
  }

  number(): number {
    const value = this.#view.getFloat64(this.#advance(8));
    return value >= 0 ? value : foreign('a number below 0');
  }

  text(): string {
    const text: number[] = [];
    for (;;) {
      const byte = this.u8();
      if (byte !== 0) text.push(byte);
      else if (this.u8() === 0) return utf8(Uint8Array.from(text));
      else text.push(0);
    }
  }

  ascii(length: number): string {
    const start = this.#advance(length);
    return utf8(this.#bytes.subarray(start, start + length));
  }

  invocationId(): InvocationId {
    const start = this.#advance(ID_BYTES);
    const keyStart = start + ID_BYTES - PARTITION_KEY_BYTES;
    const bytes = new Uint8Array(ID_BYTES);
    bytes.set(this.#bytes.subarray(keyStart, start + ID_BYTES));
    bytes.set(this.#bytes.subarray(start, keyStart), PARTITION_KEY_BYTES);
    return invocationIdFromBytes(bytes);
  }

  #advance(count: number): number {
    const start = this.#position;
    this.#position = start + count;
    if (this.#position > this.#bytes.length) {
      return foreign('an end too early');
    }
    return start;
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return decodeUtf8Strict(bytes);
  } catch {
    return foreign('text that is no UTF-8');
  }
}

/** The key has what no key of its table has. */
function foreign(what: string): never {
  throw new EngineError('storage', `a key in the store is not of its table: it has ${what}`);
}
