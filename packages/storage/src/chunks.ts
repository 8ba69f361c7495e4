/**
 * Rows larger than one piece. The first piece stands under the row's own key and says how many follow; those stand in the
 * table `chunk` under (table and key of the row, number). A first piece begins with a byte that begins no encoded message.
 */

import { EngineError, limits } from '@engine/domain';
import { assert, concatBytes } from '@engine/stdx';

/** Field number 0, wire type 7: no message begins like this. */
const MARKER = 0x07;
const HEADER_BYTES = 5;

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

/** Cuts an encoded row: the first piece, then the others. A row that fits one piece comes back as it is. */
export function cutRow(bytes: Uint8Array): readonly [Uint8Array, ...Uint8Array[]] {
  const max = limits.STORED_CHUNK_BYTES_MAX;
  if (bytes.length <= max) return [bytes];
  const inFirst = max - HEADER_BYTES;
  const first = new Uint8Array(max);
  const pieces: [Uint8Array, ...Uint8Array[]] = [first];
  for (let start = inFirst; start < bytes.length; start += max) {
    pieces.push(bytes.subarray(start, start + max));
  }
  assert(pieces.length - 1 <= FURTHER_PIECES_MAX, 'a row is not larger than all its pieces can be');
  first[0] = MARKER;
  new DataView(first.buffer).setUint32(1, pieces.length - 1);
  first.set(bytes.subarray(0, inFirst), HEADER_BYTES);
  return pieces;
}

/** Puts a row together again. `piece` reads further piece 1, 2, …; a missing one is EngineError `storage`. */
export function joinRow(
  first: Uint8Array,
  piece: (number: number) => Uint8Array | undefined,
): Uint8Array {
  const count = furtherPieces(first);
  if (count === 0) return first;
  const pieces = [first.subarray(HEADER_BYTES)];
  for (let number = 1; number <= count; number++) {
    const bytes = piece(number);
    if (bytes === undefined)
      throw new EngineError('storage', 'a stored row lacks one of its pieces');
    pieces.push(bytes);
  }
  return concatBytes(pieces);
}
