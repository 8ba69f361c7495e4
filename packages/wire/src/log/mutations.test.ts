import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { Mutations } from '../gen/engine/log/v1/record.js';
import {
  MutationWriter,
  recordRow,
  encodeRow,
  stateRow,
  visitMutations,
  type EncodedMutations,
} from '../index.js';

type Pair = readonly [key: Uint8Array, value: Uint8Array | undefined];

const pairs: fc.Arbitrary<Pair[]> = fc.array(
  fc.tuple(
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }),
  ),
);

function write(list: readonly Pair[]): EncodedMutations {
  const writer = new MutationWriter();
  for (const [key, value] of list) {
    if (value === undefined) writer.del(key);
    else writer.put(key, value);
  }
  return writer.finish();
}

describe('mutations of a record', () => {
  it('are what the generated code reads, and what the walk finds', () => {
    fc.assert(
      fc.property(pairs, (list) => {
        const encoded = write(list);
        const seen: Pair[] = [];
        visitMutations(encoded, (key, value) => seen.push([key.slice(), value?.slice()]));
        expect(seen).toEqual(list);
        const read = Mutations.decode(encoded.bytes).mutations;
        expect(read.map(({ key, value }) => [key, value])).toEqual(list);
        expect(encoded.count).toBe(list.length);
      }),
    );
  });

  it('large values among small ones, in one walk or in several', () => {
    const sizes = fc.constantFrom(0, 1, 127, 128, 16_383, 16_384, 20_000, 70_000);
    const lists = fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 200 }), sizes));
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 100_000 }), (list, bytesMax) => {
        const wanted = list.map(([key, size], at) => [key, new Uint8Array(size).fill(at)] as const);
        const encoded = write(wanted);
        const seen: Pair[] = [];
        for (let from = 0; from < encoded.bytes.length;) {
          const visit = (key: Uint8Array, value?: Uint8Array): number => seen.push([key, value]);
          from = visitMutations(encoded, visit, { from, bytesMax });
        }
        const digest = (pairs: readonly Pair[]): unknown =>
          pairs.map(([key, value]) => [key.join(), value?.length, value?.[0], value?.at(-1)]);
        expect(digest(seen)).toEqual(digest(wanted));
        expect(Mutations.decode(encoded.bytes).mutations).toHaveLength(list.length);
      }),
      { numRuns: 50 },
    );
  });

  it('a row is encoded in place', () => {
    const writer = new MutationWriter();
    const value = new Uint8Array(1_000).fill(7);
    writer.putRow(Uint8Array.of(1), value, stateRow);
    visitMutations(writer.finish(), (key, bytes) => {
      expect(key).toEqual(Uint8Array.of(1));
      expect(stateRow.read(bytes as Uint8Array)).toEqual(value);
    });
  });

  it('the writer begins anew after each record', () => {
    const writer = new MutationWriter();
    writer.del(Uint8Array.of(1));
    expect(writer.finish().count).toBe(1);
    writer.del(Uint8Array.of(2));
    writer.discard();
    expect(writer.finish()).toEqual({ count: 0, bytes: new Uint8Array(0) });
  });

  it('torn bytes are refused', () => {
    const { bytes } = write([[Uint8Array.of(1, 2), Uint8Array.of(3, 4, 5)]]);
    for (let length = 1; length < bytes.length; length++) {
      const torn = { count: 1, bytes: bytes.subarray(0, length) };
      expect(() => {
        visitMutations(torn, () => undefined);
      }).toThrow(expect.objectContaining({ code: 'storage' }));
    }
  });

  it('messages of a log come back as they were written', () => {
    const { bytes: content } = write([[Uint8Array.of(1), Uint8Array.of(2)]]);
    const message = {
      format: 1,
      epoch: 3n,
      sequence: 2n ** 63n,
      chain: 2n ** 64n - 1n,
      content,
      mutationCount: 1,
      part: 2,
      partCount: 3,
      isAnnouncement: false,
    };
    expect(recordRow.read(encodeRow(recordRow, message))).toEqual(message);
    const beyond = encodeRow(recordRow, { ...message, part: 3 });
    expect(() => recordRow.read(beyond)).toThrow(expect.objectContaining({ code: 'storage' }));
  });
});
