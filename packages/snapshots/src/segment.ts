/**
 * Segments: the rows of a snapshot in pieces, each packed, compressed and summed for itself. A segment is for each row: length of the
 * key (4 bytes), length of the value (4), key, value; compressed with zstd. Compressing and summing run beside the main thread.
 */

import { webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

import type { KvEntry } from '@engine/storage';
import { concatBytes, toHex } from '@engine/stdx';

import {
  RESTORE_SLICE_BYTES,
  RESTORE_SLICE_ROWS,
  SEGMENT_BYTES,
  SEGMENT_BYTES_MAX,
} from './limits.js';

const HEADER_BYTES = 8;

/** What a manifest says of a segment. */
export interface SegmentSummary {
  readonly rows: number;
  /** Of the rows, before they were compressed. */
  readonly bytes: number;
  /** Of the object. */
  readonly storedBytes: number;
  /** SHA-256 of the object, in hex. */
  readonly sha256: string;
}

/** Something of a snapshot is missing or not as it was. The message says what, for people. */
export class DamagedSnapshot extends Error {
  override readonly name = 'DamagedSnapshot';
}

/** Gathers rows until a segment is full. Pages are packed as they come, so that no turn of the event loop is long. */
export class SegmentPacker {
  #pages: Uint8Array[] = [];
  #bytes = 0;
  #rows = 0;

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  /** Returns true when the segment is full. */
  add(page: readonly KvEntry[]): boolean {
    const packed = pack(page);
    this.#pages.push(packed);
    this.#rows += page.length;
    this.#bytes += packed.length;
    return this.#bytes >= SEGMENT_BYTES;
  }

  /** The rows since the last one, compressed. */
  async close(): Promise<{ readonly object: Uint8Array; readonly summary: SegmentSummary }> {
    const [packed, rows] = [concatBytes(this.#pages), this.#rows];
    this.#pages = [];
    this.#bytes = 0;
    this.#rows = 0;
    const object: Uint8Array = await compress(packed);
    const sha256 = await sha256Of(object);
    return {
      object,
      summary: { rows, bytes: packed.length, storedBytes: object.length, sha256 },
    };
  }
}

/** Verifies and unpacks a segment. Throws DamagedSnapshot when it is missing, another, or cannot be unpacked. */
export async function openSegment(
  object: Uint8Array | undefined,
  { bytes, storedBytes, sha256 }: SegmentSummary,
): Promise<Uint8Array> {
  if (object === undefined) throw new DamagedSnapshot('a segment is missing');
  if (object.length !== storedBytes) throw new DamagedSnapshot('a segment is not of its length');
  if ((await sha256Of(object)) !== sha256) throw new DamagedSnapshot('a segment was changed');
  try {
    const packed: Uint8Array = await decompress(object, { maxOutputLength: SEGMENT_BYTES_MAX });
    if (packed.length === bytes) return packed;
  } catch (cause) {
    throw new DamagedSnapshot('a segment cannot be unpacked', { cause });
  }
  throw new DamagedSnapshot('a segment unpacks to another length');
}

/** The rows of an unpacked segment, as views, in slices. Throws DamagedSnapshot when it ends within a row. */
export function* slicesOf(packed: Uint8Array): Generator<readonly KvEntry[]> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  let slice: KvEntry[] = [];
  let sliceStart = 0;
  for (let at = 0; at < packed.length;) {
    if (at + HEADER_BYTES > packed.length) throw new DamagedSnapshot('a segment ends too early');
    const keyStart = at + HEADER_BYTES;
    const valueStart = keyStart + view.getUint32(at);
    const end = valueStart + view.getUint32(at + 4);
    if (end > packed.length) throw new DamagedSnapshot('a segment ends too early');
    const key = packed.subarray(keyStart, valueStart);
    slice.push({ key, value: packed.subarray(valueStart, end) });
    at = end;
    if (at - sliceStart < RESTORE_SLICE_BYTES && slice.length < RESTORE_SLICE_ROWS) continue;
    yield slice;
    slice = [];
    sliceStart = at;
  }
  if (slice.length > 0) yield slice;
}

export async function sha256Of(bytes: Uint8Array): Promise<string> {
  // Beside the main thread, unlike createHash.
  const owned = bytes as Uint8Array<ArrayBuffer>;
  return toHex(new Uint8Array(await webcrypto.subtle.digest('SHA-256', owned)));
}

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

function pack(page: readonly KvEntry[]): Uint8Array {
  let length = 0;
  for (const { key, value } of page) length += HEADER_BYTES + key.length + value.length;
  const packed = new Uint8Array(length);
  const view = new DataView(packed.buffer);
  let at = 0;
  for (const { key, value } of page) {
    view.setUint32(at, key.length);
    view.setUint32(at + 4, value.length);
    packed.set(key, at + HEADER_BYTES);
    packed.set(value, at + HEADER_BYTES + key.length);
    at += HEADER_BYTES + key.length + value.length;
  }
  return packed;
}
