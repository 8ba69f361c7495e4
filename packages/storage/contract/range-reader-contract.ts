/** What every store that hands out large ranges keeps. */

import { describe, expect, it } from '@jest/globals';

import type { KvEntry, KvStore, RangeReader } from '../src/index.js';
import type { KvHarness } from './kv-store-contract.js';

type ReadableStore = KvStore & RangeReader;

/** Two bytes for the number, and values of 2 KiB: more than one page of any store. */
const ROW_COUNT = 3_000;
const SYNC = { sync: true };
const key = (row: number): Uint8Array => Uint8Array.of(1, row >> 8, row);
const ALL = { gte: Uint8Array.of(1), lt: Uint8Array.of(2) };

async function fill(store: KvStore): Promise<void> {
  const batch = store.batch();
  for (let row = 0; row < ROW_COUNT; row += 1) batch.put(key(row), new Uint8Array(2_048).fill(row));
  batch.put(Uint8Array.of(0), Uint8Array.of());
  batch.put(Uint8Array.of(2), Uint8Array.of());
  await batch.write(SYNC);
}

async function collect(pages: AsyncIterable<readonly KvEntry[]>): Promise<(readonly KvEntry[])[]> {
  const list: (readonly KvEntry[])[] = [];
  for await (const page of pages) list.push(page);
  return list;
}

export function rangeReaderContract(
  name: string,
  makeHarness: () => Promise<KvHarness<ReadableStore>>,
): void {
  const withStore = async (body: (store: ReadableStore) => Promise<void>): Promise<void> => {
    const harness = await makeHarness();
    const store = await harness.open();
    try {
      await body(store);
    } finally {
      await store.close();
      await harness.dispose();
    }
  };

  describe(`${name} as RangeReader`, () => {
    it('hands out the range and nothing else, in order, in pages', () =>
      withStore(async (store) => {
        expect(await collect(store.pages(ALL))).toEqual([]);
        await fill(store);
        const pages = await collect(store.pages(ALL));
        expect(pages.length).toBeGreaterThan(1);
        expect(pages.every((page) => page.length > 0)).toBe(true);
        const rows = pages.flat();
        expect(rows.map((row) => [...row.key])).toEqual(
          Array.from({ length: ROW_COUNT }, (_, row) => [...key(row)]),
        );
        expect(rows[700]?.value).toEqual(new Uint8Array(2_048).fill(700));
      }));

    it('as of the call, whatever is written meanwhile', () =>
      withStore(async (store) => {
        await fill(store);
        const pages = store.pages(ALL);
        const batch = store.batch();
        for (let row = 0; row < ROW_COUNT; row += 1) batch.del(key(row));
        batch.put(Uint8Array.of(1, 0xff), Uint8Array.of());
        await batch.write(SYNC);
        expect((await collect(pages)).flat()).toHaveLength(ROW_COUNT);
        expect((await collect(store.pages(ALL))).flat()).toHaveLength(1);
      }));

    it('may be left in the middle, and the store closed', () =>
      withStore(async (store) => {
        await fill(store);
        for await (const page of store.pages(ALL)) {
          expect(page.length).toBeGreaterThan(0);
          break;
        }
        await store.close();
      }));

    it('a store that is closed meanwhile refuses with a code', () =>
      withStore(async (store) => {
        await fill(store);
        const refused = expect.objectContaining({ code: 'storage' });
        const read = async (): Promise<void> => {
          for await (const page of store.pages(ALL)) {
            expect(page.length).toBeGreaterThan(0);
            await store.close();
          }
        };
        await expect(read()).rejects.toThrow(refused);
        expect(() => store.pages(ALL)).toThrow(refused);
      }));
  });
}
