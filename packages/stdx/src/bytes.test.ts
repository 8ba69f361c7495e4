import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  compareBytes,
  concatBytes,
  decodeUtf8,
  decodeUtf8Strict,
  encodeUtf8,
  equalBytes,
  startsWithBytes,
} from './bytes.js';
import { fromHex, toHex } from './hex.js';

const bytes = fc.uint8Array({ maxLength: 40 });

describe('bytes', () => {
  it('joins parts in order', () => {
    fc.assert(
      fc.property(fc.array(bytes), (parts) => {
        expect([...concatBytes(parts)]).toEqual(parts.flatMap((part) => [...part]));
      }),
    );
  });

  it('orders as memcmp does, equal exactly when the same', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
        expect(equalBytes(a, b)).toBe(Buffer.compare(a, b) === 0);
        expect(startsWithBytes(concatBytes([a, b]), a)).toBe(true);
      }),
    );
    expect(startsWithBytes(new Uint8Array([1]), new Uint8Array([1, 2]))).toBe(false);
  });

  it('decodes what it encoded and is strict when asked', () => {
    expect(decodeUtf8(encodeUtf8('größe 🦊'))).toBe('größe 🦊');
    expect(decodeUtf8Strict(encodeUtf8('\ufeffkey'))).toBe('\ufeffkey');
    expect(decodeUtf8(new Uint8Array([0xff]))).toBe('\ufffd');
    expect(() => decodeUtf8Strict(new Uint8Array([0xff]))).toThrow('not valid');
  });

  it('reads the hexadecimal text that it wrote', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(toHex(value)).toBe(Buffer.from(value).toString('hex'));
        expect([...fromHex(toHex(value))]).toEqual([...value]);
      }),
    );
    expect([...fromHex('00FF')]).toEqual([0, 255]);
    expect(() => fromHex('abc')).toThrow('hexadecimal');
    expect(() => fromHex('zz')).toThrow('hexadecimal');
  });
});
