import { describe, expect, it } from '@jest/globals';

import { cutRow, furtherPieces, joinRow } from './chunks.js';

const storageError: unknown = expect.objectContaining({ code: 'storage' });
const header = (count: number, headLength = 0): Uint8Array => {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 7);
  view.setUint32(1, count);
  view.setUint32(5, headLength);
  return bytes;
};
const bytesOf = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => index * 7 + seed);

describe('a row in pieces', () => {
  const max = 64 * 1024;
  it.each([
    { head: 20, payload: 0, further: 0 },
    { head: 20, payload: 61_000, further: 0 },
    { head: 20, payload: max - 29, further: 0 },
    { head: 20, payload: max - 28, further: 1 },
    { head: 20, payload: 200_000, further: 3 },
    { head: 0, payload: 200_000, further: 3 },
    { head: max - 9, payload: max, further: 1 },
    { head: 150_000, payload: 0, further: 2 },
    { head: 150_000, payload: 70_000, further: 3 },
  ])('comes back as it was: $head and $payload bytes', ({ head, payload, further }) => {
    const [first, ...others] = cutRow(bytesOf(head, 1), bytesOf(payload, 2));
    expect(furtherPieces(first)).toBe(further);
    for (const piece of [first, ...others]) expect(piece.length).toBeLessThanOrEqual(max);
    const joined = joinRow(first, (number) => others[number - 1]);
    expect(Buffer.compare(joined.head, bytesOf(head, 1))).toBe(0);
    expect(Buffer.compare(joined.payload ?? new Uint8Array(1), bytesOf(payload, 2))).toBe(0);
  });

  it('that was stored whole has no payload of its own', () => {
    const row = Uint8Array.of(10, 1, 2);
    expect(joinRow(row, () => undefined)).toEqual({ head: row, payload: undefined });
  });

  it('with a torn head is refused', () => {
    for (let length = 1; length < 9; length++) {
      expect(() => furtherPieces(header(1).subarray(0, length))).toThrow(storageError);
    }
    expect(() => joinRow(header(0, 1), () => undefined)).toThrow(storageError);
    expect(() => joinRow(header(1), () => undefined)).toThrow(storageError);
  });

  it('with a count that no row has is refused, before anybody counts up to it', () => {
    expect(() => furtherPieces(header(0xff_ff_ff_ff))).toThrow(storageError);
    expect(() => furtherPieces(header(65_537))).toThrow(storageError);
    expect(furtherPieces(header(65_536))).toBe(65_536);
  });
});
