import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  invocationIdFromBytes,
  invocationIdToBytes,
  parseInvocationId,
  partitionKeyOf,
  requireInvocationId,
  shardOfInvocation,
  shardOfPartitionKey,
} from './invocation-id.js';
import { randomSeedOf } from './random-seed.js';

const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const VECTORS = [
  [
    'inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9k',
    'bea12c4c1f5e7a960e4ed33ac2c67ec1d0f30fe500979885',
    14053216792520790592n,
  ],
  [
    'inv_1eVo5PdoISlm4YLYoWJNkRrJSgKcCJKfSh',
    'c43eec2bea13d9ad01a1fa9d07f27283b7438af8d66aa2a3',
    16231921736385030300n,
  ],
  [
    'inv_1h1Zzq3L4r1i4HYQ0vxcuYLElUxwye2PzE',
    '2c8c292b3c4a62c67ede02d587ab78607a392a53653abc9a',
    4089816076591570369n,
  ],
  [
    'inv_19Hb11MifBhr4c3oghWDHoXOZpLp5Nthm0',
    '35c0343dabacf070e056a631d59860732d91a20b61d8d089',
    undefined,
  ],
] as const;

const REASONS = [
  ['', 'bad length'],
  ['foo', 'bad format'],
  ['xyz_1abc', 'unrecognized resource type: xyz'],
  ['dp_17BEOzUfxsHZXdlJBa9Xkit', "id doesn't match the expected type"],
  ['inv_foo', 'unrecognized codec version'],
  ['inv_2cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9k', 'unrecognized codec version'],
  ['inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9', 'bad length'],
  ['inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9kk', 'bad length'],
  ['inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9-', 'base62 decode error'],
  ['inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9é', 'base62 decode error'],
  [`inv_1${'Z'.repeat(33)}`, 'base62 decode error'],
] as const;

describe('invocation id', () => {
  it.each(VECTORS)('has the known text and bytes: %s', (text, hex, seed) => {
    const id = requireInvocationId(text);
    expect(toHex(invocationIdToBytes(id))).toBe(hex);
    expect(invocationIdFromBytes(fromHex(hex))).toBe(text);
    expect(partitionKeyOf(id)).toBe(BigInt(`0x${hex.slice(0, 16)}`));
    if (seed !== undefined) expect(randomSeedOf(id)).toBe(seed);
  });

  it.each(REASONS)('refuses %j with the words that callers see', (text, reason) => {
    expect(parseInvocationId(text)).toEqual({ kind: 'bad', reason });
    expect(() => requireInvocationId(text)).toThrow(`bad invocation id '${text}': ${reason}`);
  });

  it('decode∘encode is the identity for any 24 bytes, at any offset', () => {
    const bytes24 = fc.uint8Array({ minLength: 24, maxLength: 24 });
    fc.assert(
      fc.property(bytes24, fc.nat(5), (bytes, offset) => {
        const padded = new Uint8Array(24 + offset);
        padded.set(bytes, offset);
        const id = invocationIdFromBytes(padded, offset);
        expect(parseInvocationId(id)).toEqual({ kind: 'ok', id });
        expect(invocationIdToBytes(id, new Uint8Array(40), 7).subarray(7, 31)).toEqual(bytes);
      }),
    );
  });

  it('maps keys to shards exactly', () => {
    const cases = fc.tuple(fc.bigInt(0n, 2n ** 64n - 1n), fc.integer({ min: 1, max: 65_535 }));
    fc.assert(
      fc.property(cases, ([key, shards]) => {
        const bytes = new Uint8Array(24);
        new DataView(bytes.buffer).setBigUint64(0, key);
        const expected = Number((key * BigInt(shards)) >> 64n);
        expect(shardOfPartitionKey(key, shards)).toBe(expected);
        expect(shardOfInvocation(invocationIdFromBytes(bytes), shards)).toBe(expected);
      }),
    );
    expect(shardOfPartitionKey(2n ** 64n - 1n, 24)).toBe(23);
  });
});
