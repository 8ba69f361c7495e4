/**
 * The mutations of a record as bytes: the encoding of `engine.log.v1.Mutations`, written and walked by hand because it is the
 * hot path. Each key stands once; the walk makes views, no copies.
 */

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { assert, concatBytes } from '@engine/stdx';

import { missing, type RowCodec } from '../codec.js';

/** Field numbers and wire types of proto/engine/log/v1/record.proto. */
const MUTATION_TAG = 0x0a;
const KEY_TAG = 0x0a;
const VALUE_TAG = 0x12;

/** A writer that grew beyond this is not kept for the next record. */
const WRITER_KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** A value from this size on is not copied before the record is finished: large payloads come in many of them. */
const PART_BYTES_MIN = 16 * 1024;

/** Encoded mutations of one record. */
export interface EncodedMutations {
  /** Number of puts and deletes. */
  readonly count: number;
  readonly bytes: Uint8Array;
}

export const NO_MUTATIONS: EncodedMutations = { count: 0, bytes: new Uint8Array(0) };

/** Writes one record after the other. Keys and rows are copied in, so scratch space may be reused at once. */
export class MutationWriter {
  #writer = new BinaryWriter();
  /** What stands before the content of the writer. */
  #parts: Uint8Array[] = [];
  #count = 0;

  /** A put whose value is encoded in place. */
  putRow<Row>(key: Uint8Array, row: Row, codec: RowCodec<Row>): void {
    const writer = this.#begin(key);
    writer.uint32(VALUE_TAG).fork();
    codec.write(row, writer);
    writer.join().join();
  }

  /** The value must not change before `finish`. */
  put(key: Uint8Array, value: Uint8Array): void {
    if (value.length >= PART_BYTES_MIN) this.#putPart(key, value);
    else this.#begin(key).uint32(VALUE_TAG).bytes(value).join();
  }

  del(key: Uint8Array): void {
    this.#begin(key).join();
  }

  /** Effects: the writer is empty and ready for the next record. */
  finish(): EncodedMutations {
    const rest = this.#writer.finish();
    if (rest.length > WRITER_KEPT_BYTES_MAX) this.#writer = new BinaryWriter();
    const bytes = concatBytes([...this.#parts, rest]);
    const count = this.#count;
    this.#parts = [];
    this.#count = 0;
    return { count, bytes };
  }

  /** Effects: forgets what was written; for a caller that failed half-way. */
  discard(): void {
    this.#writer = new BinaryWriter();
    this.#parts = [];
    this.#count = 0;
  }

  #putPart(key: Uint8Array, value: Uint8Array): void {
    assert(key.length > 0, 'a mutation has a key');
    this.#count += 1;
    const length = fieldBytes(key) + fieldBytes(value);
    const writer = this.#writer.uint32(MUTATION_TAG).uint32(length).uint32(KEY_TAG).bytes(key);
    this.#parts.push(writer.uint32(VALUE_TAG).uint32(value.length).finish(), value);
  }

  #begin(key: Uint8Array): BinaryWriter {
    assert(key.length > 0, 'a mutation has a key');
    this.#count += 1;
    return this.#writer.uint32(MUTATION_TAG).fork().uint32(KEY_TAG).bytes(key);
  }
}

/** Bytes of tag, length and content. */
function fieldBytes(content: Uint8Array): number {
  let bytes = 2 + content.length;
  for (let rest = content.length >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

/** A part of a walk: begins at the byte `from`, ends behind the mutation that goes over `bytesMax`. */
export interface WalkPart {
  readonly from: number;
  readonly bytesMax: number;
}

const WHOLE: WalkPart = { from: 0, bytesMax: Number.POSITIVE_INFINITY };

/**
 * Calls `visit` for each mutation in order; views of the bytes, a delete has no value. Returns where the next part begins: at
 * the end, the number of bytes. Throws EngineError `storage` on garbage.
 */
export function visitMutations(
  { bytes }: EncodedMutations,
  visit: (key: Uint8Array, value: Uint8Array | undefined) => void,
  { from, bytesMax }: WalkPart = WHOLE,
): number {
  const walk = new Walk(bytes, from);
  while (walk.position < bytes.length && walk.position - from < bytesMax) {
    walk.expect(MUTATION_TAG);
    const end = walk.length() + walk.position;
    walk.expect(KEY_TAG);
    const key = walk.view();
    let value: Uint8Array | undefined;
    if (walk.position < end) {
      walk.expect(VALUE_TAG);
      value = walk.view();
    }
    if (walk.position !== end) missing('end of a mutation');
    visit(key, value);
  }
  return walk.position;
}

class Walk {
  position: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = bytes;
    this.position = from;
  }

  expect(tag: number): void {
    if (this.#bytes[this.position++] !== tag) missing('field of a mutation');
  }

  view(): Uint8Array {
    const length = this.length();
    const from = this.position;
    this.position = from + length;
    if (this.position > this.#bytes.length) missing('rest of a mutation');
    return this.#bytes.subarray(from, this.position);
  }

  /** A varint of at most five bytes. */
  length(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.position++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return missing('length in a mutation');
  }
}
