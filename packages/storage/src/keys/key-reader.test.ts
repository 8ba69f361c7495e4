import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { KeyReader } from './key-reader.js';

const storageError: unknown = expect.objectContaining({ code: 'storage' });

describe('a key that was not written by a table', () => {
  it('has no text that is no UTF-8, no negative number, no end before its parts', () => {
    expect(() => new KeyReader(Uint8Array.of(0xff, 0, 0), 0).text()).toThrow(storageError);
    expect(() => new KeyReader(Uint8Array.of(0x61), 0).text()).toThrow(storageError);
    expect(() => new KeyReader(Uint8Array.of(0xff), 0).ascii(1)).toThrow(storageError);
    const negative = Uint8Array.of(0xbf, 0xf0, 0, 0, 0, 0, 0, 0);
    expect(() => new KeyReader(negative, 0).number()).toThrow(storageError);
    const notANumber = Uint8Array.of(0x7f, 0xff, 0, 0, 0, 0, 0, 0);
    expect(() => new KeyReader(notANumber, 0).number()).toThrow(storageError);
    expect(() => new KeyReader(new Uint8Array(23), 0).invocationId()).toThrow(storageError);
  });

  it('is read or refused with a code, whatever its bytes', () => {
    const parts = fc.constantFrom('u8', 'u16', 'u32', 'u64', 'number', 'text', 'invocationId');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(parts as never), (bytes, order) => {
        const reader = new KeyReader(bytes, 0);
        try {
          for (const part of order as ('u8' | 'number' | 'text')[]) reader[part]();
        } catch (error) {
          expect(error).toEqual(storageError);
        }
      }),
    );
  });
});
