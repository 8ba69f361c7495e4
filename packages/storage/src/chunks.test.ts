import { describe, expect, it } from '@jest/globals';

import { cutRow, furtherPieces, joinRow } from './chunks.js';

const storageError: unknown = expect.objectContaining({ code: 'storage' });

describe('a row in pieces', () => {
  it('comes back as it was', () => {
    const row = Uint8Array.from({ length: 200_000 }, (_, i) => i);
    const [first, ...others] = cutRow(row);
    expect(furtherPieces(first)).toBe(3);
    expect(joinRow(first, (number) => others[number - 1])).toEqual(row);
  });

  it('with a torn head is refused', () => {
    for (let length = 1; length < 5; length++) {
      const torn = Uint8Array.of(7, 0, 0, 0, 1).subarray(0, length);
      expect(() => furtherPieces(torn)).toThrow(storageError);
    }
  });

  it('with a count that no row has is refused, before anybody counts up to it', () => {
    expect(() => furtherPieces(Uint8Array.of(7, 0xff, 0xff, 0xff, 0xff))).toThrow(storageError);
    expect(() => furtherPieces(Uint8Array.of(7, 0, 1, 0, 1))).toThrow(storageError);
    expect(furtherPieces(Uint8Array.of(7, 0, 1, 0, 0))).toBe(65_536);
  });
});
