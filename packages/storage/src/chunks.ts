/**
 * Rows larger than one piece: an encoded head, then the payload that was taken out of it, so that a payload is never copied to be
 * encoded. The first piece stands under the row's own key and says how many follow and how long the head is; the others stand in
 * the table `chunk` under (table and key of the row, number). A first piece begins with a byte that begins no encoded message.
 */

import { EngineError, limits } from '@engine/domain';
import { assert, concatBytes } from '@engine/stdx';

/** Field number 0, wire type 7: no message begins like this. */
const MARKER = 0x07;
/** Marker, number of further pieces, length of the head. */
const HEADER_BYTES = 9;

/** 4 GiB in pieces of 64 KiB: more than any row can have, little enough to count up to. */
const FURTHER_PIECES_MAX = 65_536;

/** How many further pieces the row has that begins with `first`. Throws EngineError `storage` when it cannot be so many. */
export function furtherPieces(first: Uint8Array): number {
  if (first[0] !== MARKER) return 0;
  if (first.length < HEADER_BYTES) {
    throw new EngineError('storage', 'the head of a stored row is torn');
  }
  const count = new DataView(first.buffer, first.byteOffset, first.byteLength).getUint32(1);
  if (count > FURTHER_PIECES_MAX) {
    throw new EngineError('storage', `a stored row cannot have ${String(count)} pieces`);
  }
  return count;
}

/** About how many bytes the row takes that begins with `first`: its pieces together. */
export function storedBytes(first: Uint8Array): number {
  return first.length + furtherPieces(first) * limits.STORED_CHUNK_BYTES_MAX;
}

/** Cuts a row: the first piece, then the others. Those behind the head are views of the payload. */
export function cutRow(
  head: Uint8Array,
  payload: Uint8Array,
): readonly [Uint8Array, ...Uint8Array[]] {
  const max = limits.STORED_CHUNK_BYTES_MAX;
  const inFirst = max - HEADER_BYTES;
  const length = head.length + payload.length;
  // A head that fills pieces of its own is rare: texts and lists that nobody takes out.
  const isLongHead = head.length > inFirst;
  const rest = isLongHead ? concatBytes([head, payload]) : payload;
  const restStart = isLongHead ? inFirst : inFirst - head.length;
  const first = new Uint8Array(HEADER_BYTES + Math.min(length, inFirst));
  const pieces: [Uint8Array, ...Uint8Array[]] = [first];
  for (let start = restStart; start < rest.length; start += max) {
    pieces.push(rest.subarray(start, start + max));
  }
  assert(pieces.length - 1 <= FURTHER_PIECES_MAX, 'a row is not larger than all its pieces can be');
  const view = new DataView(first.buffer);
  first[0] = MARKER;
  view.setUint32(1, pieces.length - 1);
  view.setUint32(5, head.length);
  first.set(head.subarray(0, inFirst), HEADER_BYTES);
  if (!isLongHead) first.set(payload.subarray(0, restStart), HEADER_BYTES + head.length);
  return pieces;
}

/** A row put together again; `payload` is undefined for a row that was stored whole. */
export interface JoinedRow {
  readonly head: Uint8Array;
  readonly payload: Uint8Array | undefined;
}

/**
 * Puts a row together again. `piece` reads further piece 1, 2, …. Throws EngineError `storage` when one is missing or the head is
 * longer than all of them.
 */
export function joinRow(
  first: Uint8Array,
  piece: (number: number) => Uint8Array | undefined,
): JoinedRow {
  if (first[0] !== MARKER) return { head: first, payload: undefined };
  const count = furtherPieces(first);
  const pieces = [first.subarray(HEADER_BYTES)];
  for (let number = 1; number <= count; number++) {
    const bytes = piece(number);
    if (bytes === undefined) {
      throw new EngineError('storage', 'a stored row lacks one of its pieces');
    }
    pieces.push(bytes);
  }
  const whole = concatBytes(pieces);
  const headLength = new DataView(first.buffer, first.byteOffset, first.byteLength).getUint32(5);
  if (headLength > whole.length) {
    throw new EngineError('storage', 'the head of a stored row is torn');
  }
  return { head: whole.subarray(0, headLength), payload: whole.subarray(headLength) };
}
