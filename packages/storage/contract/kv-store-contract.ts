/** What every KvStore keeps. */

import { describe, expect, it } from '@jest/globals';
import { compareBytes, toHex } from '@engine/stdx';
import * as fc from 'fast-check';

import type { KvStore } from '../src/index.js';

export interface KvHarness<Store extends KvStore = KvStore> {
  open(): Promise<Store>;
  /** Opens again what `store`, already closed, left behind. */
  reopen(store: KvStore): Promise<Store>;
  dispose(): Promise<void>;
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.of(...values);
const SYNC = { sync: true };
const MAX = bytes(0xff, 0xff, 0xff, 0xff);

async function put(store: KvStore, ...pairs: [Uint8Array, Uint8Array][]): Promise<void> {
  const batch = store.batch();
  for (const [key, value] of pairs) batch.put(key, value);
  await batch.write(SYNC);
}

export function kvStoreContract(name: string, makeHarness: () => Promise<KvHarness>): void {
  const withStore = async (
    body: (store: KvStore, harness: KvHarness) => Promise<void>,
  ): Promise<void> => {
    const harness = await makeHarness();
    const store = await harness.open();
    try {
      await body(store, harness);
    } finally {
      await store.close();
      await harness.dispose();
    }
  };

  describe(`${name} as KvStore`, () => {
    it('reads what was written and nothing else', () =>
      withStore(async (store) => {
        await put(store, [bytes(1), bytes(10)], [bytes(1, 0), new Uint8Array(0)]);
        expect(toHex(store.get(bytes(1)) as Uint8Array)).toBe('0a');
        expect(store.get(bytes(1, 0))).toHaveLength(0);
        expect(store.get(bytes(0))).toBeUndefined();
        expect(store.get(bytes(1, 0, 0))).toBeUndefined();
      }));

    it('a batch shows nothing before it is written, then all of it', () =>
      withStore(async (store) => {
        await put(store, [bytes(1), bytes(1)]);
        const batch = store.batch();
        batch.put(bytes(2), bytes(2));
        batch.del(bytes(1));
        expect(store.get(bytes(1))).toBeDefined();
        expect(store.get(bytes(2))).toBeUndefined();
        await batch.write({ sync: false });
        expect(store.get(bytes(1))).toBeUndefined();
        expect(store.get(bytes(2))).toBeDefined();
      }));

    it('the last operation on a key wins', () =>
      withStore(async (store) => {
        const batch = store.batch();
        batch.put(bytes(1), bytes(1));
        batch.put(bytes(1), bytes(2));
        batch.put(bytes(2), bytes(1));
        batch.del(bytes(2));
        batch.del(bytes(3));
        batch.put(bytes(3), bytes(3));
        await batch.write(SYNC);
        expect(store.get(bytes(1))?.[0]).toBe(2);
        expect(store.get(bytes(2))).toBeUndefined();
        expect(store.get(bytes(3))?.[0]).toBe(3);
      }));

    it('copies keys and values, in and out', () =>
      withStore(async (store) => {
        const key = bytes(1);
        const value = bytes(5);
        const batch = store.batch();
        batch.put(key, value);
        key[0] = 9;
        value[0] = 9;
        await batch.write(SYNC);
        const read = store.get(bytes(1)) as Uint8Array;
        expect(read[0]).toBe(5);
        read[0] = 8;
        expect(store.get(bytes(1))?.[0]).toBe(5);
      }));

    it('an empty batch may be written', () =>
      withStore(async (store) => {
        await store.batch().write(SYNC);
        expect(await store.scan({ gte: bytes(0), lt: MAX, limit: 1 })).toEqual([]);
      }));

    it('large values come back whole', () =>
      withStore(async (store) => {
        const value = new Uint8Array(3_000_000).map((_, i) => i % 251);
        await put(store, [bytes(1), value]);
        expect(compareBytes(store.get(bytes(1)) as Uint8Array, value)).toBe(0);
      }));

    it('scans a range in both directions, up to the limit', () =>
      withStore(async (store) => {
        await put(
          store,
          ...[3, 1, 0x80, 2, 0xff].map((n): [Uint8Array, Uint8Array] => [bytes(n), bytes(n)]),
        );
        const keys = async (range: Partial<Parameters<KvStore['scan']>[0]>) =>
          (await store.scan({ gte: bytes(0), lt: MAX, limit: 100, ...range })).map((e) => e.key[0]);
        expect(await keys({})).toEqual([1, 2, 3, 0x80, 0xff]);
        expect(await keys({ gte: bytes(2), lt: bytes(0x80) })).toEqual([2, 3]);
        expect(await keys({ limit: 2 })).toEqual([1, 2]);
        expect(await keys({ reverse: true, limit: 2 })).toEqual([0xff, 0x80]);
        expect(await keys({ gte: bytes(4), lt: bytes(5) })).toEqual([]);
      }));

    it('keeps everything over a restart', () =>
      withStore(async (store, harness) => {
        await put(store, [bytes(7), bytes(70)]);
        await store.close();
        const again = await harness.reopen(store);
        expect(again.get(bytes(7))?.[0]).toBe(70);
        await again.close();
      }));

    it('a closed store refuses with a code', () =>
      withStore(async (store) => {
        const batch = store.batch();
        batch.put(bytes(1), bytes(1));
        await store.close();
        const refused = expect.objectContaining({ code: 'storage' });
        expect(() => store.get(bytes(1))).toThrow(refused);
        await expect(batch.write(SYNC)).rejects.toThrow(refused);
        await expect(store.scan({ gte: bytes(0), lt: MAX, limit: 1 })).rejects.toThrow(refused);
      }));

    it('behaves like a sorted map', async () => {
      const key = fc.uint8Array({ minLength: 1, maxLength: 2, max: 3 });
      const operation = fc.tuple(
        key,
        fc.option(fc.uint8Array({ maxLength: 2 }), { nil: undefined }),
      );
      const batches = fc.array(fc.array(operation, { maxLength: 6 }), { maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(batches, (list) =>
          withStore(async (store) => {
            const model = new Map<string, Uint8Array>();
            for (const operations of list) {
              const batch = store.batch();
              for (const [k, value] of operations) {
                if (value === undefined) batch.del(k);
                else batch.put(k, value);
                if (value === undefined) model.delete(toHex(k));
                else model.set(toHex(k), value);
              }
              await batch.write({ sync: false });
            }
            const found = await store.scan({ gte: bytes(0), lt: MAX, limit: 1_000 });
            expect(found.map((e) => [toHex(e.key), toHex(e.value)])).toEqual(
              [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, toHex(v)]),
            );
          }),
        ),
        { numRuns: 30 },
      );
    });
  });
}
