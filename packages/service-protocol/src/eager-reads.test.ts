import { describe, expect, it } from '@jest/globals';
import { fromHex } from '@engine/stdx';
import { readEagerState, readEagerStateKeys } from './eager-reads.js';

describe('what a handler read of its eager state', () => {
  it.each([
    ['0a05636f756e746a00', { key: 'count', value: undefined }],
    ['0a05636f756e7472030a0135', { key: 'count', value: Uint8Array.of(0x35) }],
  ])('%s', (hex, read) => {
    expect(readEagerState(fromHex(hex))).toEqual(read);
  });

  it('keys', () => {
    expect(readEagerStateKeys(fromHex('72070a05636f756e74'))).toEqual(['count']);
  });
});
