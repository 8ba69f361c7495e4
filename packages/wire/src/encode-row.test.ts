import { describe, expect, it } from '@jest/globals';

import { encodeRow, inboundRow, positionRow } from './index.js';

describe('encodeRow', () => {
  it('a row that cannot be encoded leaves nothing behind for the next', () => {
    const row = { epoch: 5n, sequence: -1n, chain: 0n, oldest: 0n, writtenBytes: 0 };
    expect(() => encodeRow(positionRow, row)).toThrow();
    expect(encodeRow(inboundRow, 0)).toEqual(new Uint8Array(0));
  });
});
