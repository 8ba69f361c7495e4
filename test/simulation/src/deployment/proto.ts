/** As much of protobuf as a handler needs, written apart from the server's code so that each checks the other. */

const utf8 = new TextEncoder();
const text = new TextDecoder('utf-8', { fatal: true });

/** A decoded field: a number for varints, bytes for everything with a length. */
export interface ProtoField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** Fields of a message by number, each in the order of the wire. */
export class ProtoMessage {
  readonly #fields: readonly ProtoField[];

  constructor(bytes: Uint8Array) {
    this.#fields = readFields(bytes);
  }

  has(number: number): boolean {
    return this.#fields.some((field) => field.number === number);
  }

  uint(number: number): bigint {
    const value = this.#fields.findLast((field) => field.number === number)?.value;
    return typeof value === 'bigint' ? value : 0n;
  }

  number(number: number): number {
    return Number(this.uint(number));
  }

  bytes(number: number): Uint8Array {
    const value = this.#fields.findLast((field) => field.number === number)?.value;
    return value instanceof Uint8Array ? value : new Uint8Array(0);
  }

  text(number: number): string {
    return text.decode(this.bytes(number));
  }

  message(number: number): ProtoMessage {
    return new ProtoMessage(this.bytes(number));
  }

  all(number: number): readonly Uint8Array[] {
    return this.#fields
      .filter((field) => field.number === number)
      .map((field) => (field.value instanceof Uint8Array ? field.value : new Uint8Array(0)));
  }
}

/** Writes fields one behind the other. Defaults are left out, as proto3 wants; `always` writes them. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = [];

  uint(number: number, value: number | bigint, always = false): this {
    const big = BigInt(value);
    if (always || big !== 0n) this.#parts.push(varint(BigInt(number) << 3n), varint(big));
    return this;
  }

  bytes(number: number, value: Uint8Array, always = false): this {
    if (!always && value.length === 0) return this;
    this.#parts.push(varint((BigInt(number) << 3n) | 2n), varint(BigInt(value.length)), value);
    return this;
  }

  text(number: number, value: string, always = false): this {
    return this.bytes(number, utf8.encode(value), always);
  }

  message(number: number, inner: ProtoWriter): this {
    return this.bytes(number, inner.finish(), true);
  }

  packed(number: number, values: readonly number[]): this {
    return this.bytes(number, join(values.map((value) => varint(BigInt(value)))));
  }

  finish(): Uint8Array {
    return join(this.#parts);
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

function readFields(bytes: Uint8Array): ProtoField[] {
  const fields: ProtoField[] = [];
  let offset = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[offset];
      if (byte === undefined) throw new RangeError('a varint ends early');
      offset += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (offset < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 2: {
        const length = Number(varint());
        if (offset + length > bytes.length) throw new RangeError('a field ends early');
        fields.push({ number, value: bytes.subarray(offset, offset + length) });
        offset += length;
        break;
      }
      default:
        throw new RangeError(`wire type ${String(tag & 7)} is not used here`);
    }
  }
  return fields;
}
