/** What every ObjectStore keeps. */

import { describe, expect, it } from '@jest/globals';

import { OBJECT_BYTES_MAX, type ObjectStore } from '../src/index.js';

export interface ObjectStoreHarness {
  /** An empty store. */
  open(): Promise<ObjectStore>;
  /** The same objects as another process sees them. */
  reopen(): Promise<ObjectStore>;
  dispose(): Promise<void>;
}

const bytes = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * seed) % 251);

/** Larger than any piece in which a store may cut an object. */
const LARGE_BYTES = 9 * 1024 * 1024 + 17;

export function objectStoreContract(
  name: string,
  makeHarness: () => Promise<ObjectStoreHarness>,
): void {
  const withStore = async (
    body: (store: ObjectStore, harness: ObjectStoreHarness) => Promise<void>,
  ): Promise<void> => {
    const harness = await makeHarness();
    try {
      await body(await harness.open(), harness);
    } finally {
      await harness.dispose();
    }
  };
  const refused: unknown = expect.objectContaining({ code: 'storage' });

  describe(`${name} as ObjectStore`, () => {
    it('gives back what was put, to everybody, whole', () =>
      withStore(async (store, harness) => {
        await store.put('a/b.zst', bytes(1_000));
        await store.put('a/empty', bytes(0));
        await store.put('a/large', bytes(LARGE_BYTES, 7));
        const other = await harness.reopen();
        expect(await store.get('a/b.zst')).toEqual(bytes(1_000));
        expect(await other.get('a/b.zst')).toEqual(bytes(1_000));
        expect(await other.get('a/empty')).toHaveLength(0);
        const large = (await other.get('a/large')) ?? bytes(0);
        expect(Buffer.compare(large, bytes(LARGE_BYTES, 7))).toBe(0);
      }));

    it('has nothing where nothing was put', () =>
      withStore(async (store) => {
        expect(await store.get('a/b')).toBeUndefined();
        expect(await store.list('')).toEqual([]);
        expect(await store.list('a/')).toEqual([]);
        await store.put('a/b/c', bytes(1));
        expect(await store.get('a/b')).toBeUndefined();
        expect(await store.get('a')).toBeUndefined();
        await store.delete('a/x');
        await store.delete('x/y/z');
      }));

    it('replaces', () =>
      withStore(async (store) => {
        await store.put('a/b', bytes(300_000, 3));
        await store.put('a/b', bytes(5, 5));
        expect(await store.get('a/b')).toEqual(bytes(5, 5));
        expect(await store.list('')).toEqual(['a/b']);
      }));

    it('lists by what names begin with, in order', () =>
      withStore(async (store) => {
        const names = ['p/10/x', 'p/1/b', 'p/1/a=2f_-.Z', 'p/1/c/d', 'q/1'];
        await Promise.all(names.map((each) => store.put(each, bytes(3))));
        expect(await store.list('p/1/')).toEqual(['p/1/a=2f_-.Z', 'p/1/b', 'p/1/c/d']);
        expect(await store.list('')).toEqual(names.sort());
        expect(await store.list('z/')).toEqual([]);
      }));

    it(
      'lists more than one page of any store',
      () =>
        withStore(async (store) => {
          const names = Array.from(
            { length: 1_050 },
            (_, at) => `many/${String(at).padStart(4, '0')}`,
          );
          for (let at = 0; at < names.length; at += 50) {
            await Promise.all(names.slice(at, at + 50).map((each) => store.put(each, bytes(1))));
          }
          expect(await store.list('many/')).toEqual(names);
        }),
      60_000,
    );

    it('deletes', () =>
      withStore(async (store, harness) => {
        await store.put('a/b', bytes(3));
        await store.put('a/c', bytes(3));
        await store.delete('a/b');
        await store.delete('a/b');
        expect(await (await harness.reopen()).get('a/b')).toBeUndefined();
        expect(await store.list('')).toEqual(['a/c']);
        await store.put('a/b', bytes(4));
        expect(await store.get('a/b')).toHaveLength(4);
      }));

    it('does not see what the caller does with the bytes later', () =>
      withStore(async (store) => {
        const own = bytes(1_000);
        const done = store.put('a', own);
        await done;
        own.fill(0);
        const read = (await store.get('a')) ?? bytes(0);
        expect(read).toEqual(bytes(1_000));
        read.fill(0);
        expect(await store.get('a')).toEqual(bytes(1_000));
      }));

    it('refuses names and sizes that not every store takes', () =>
      withStore(async (store) => {
        for (const wrong of [
          '',
          '/a',
          'a/',
          'a//b',
          '../a',
          'a/./b',
          'a b',
          'ä',
          'a'.repeat(600),
        ]) {
          await expect(store.put(wrong, bytes(1))).rejects.toThrow(refused);
        }
        const tooLarge = new Uint8Array(OBJECT_BYTES_MAX + 1);
        await expect(store.put('a', tooLarge)).rejects.toThrow(refused);
        expect(await store.list('')).toEqual([]);
      }));
  });
}
