/** What every MetadataStore keeps. */

import { describe, expect, it } from '@jest/globals';

import type { MetadataEntry, MetadataStore } from '../src/index.js';

export interface MetadataHarness {
  readonly store: MetadataStore;
  /** What a restart finds. Absent: the twin forgets. */
  readonly reopen?: () => Promise<MetadataStore>;
  /** The same documents as another process sees them. Absent: one process has them for itself. */
  readonly another?: () => Promise<MetadataStore>;
  dispose(): Promise<void>;
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.of(...values);
const conflict = expect.objectContaining({ code: 'conflict' });

/** Collects entries and resolves when one satisfies a wish: waiting on state, not on time. */
class Collector {
  readonly entries: MetadataEntry[] = [];
  #wishes: { readonly met: (entry: MetadataEntry) => boolean; readonly resolve: () => void }[] = [];

  readonly listen = (entry: MetadataEntry): void => {
    this.entries.push(entry);
    for (const wish of this.#wishes) if (wish.met(entry)) wish.resolve();
    this.#wishes = this.#wishes.filter((wish) => !wish.met(entry));
  };

  until(met: (entry: MetadataEntry) => boolean): Promise<void> {
    if (this.entries.some(met)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wishes.push({ met, resolve });
    });
  }
}

export function metadataStoreContract(
  name: string,
  makeHarness: () => Promise<MetadataHarness>,
): void {
  const withStore = async (
    body: (store: MetadataStore, harness: MetadataHarness) => Promise<void>,
  ): Promise<void> => {
    const harness = await makeHarness();
    try {
      await body(harness.store, harness);
    } finally {
      await harness.dispose();
    }
  };

  describe(`${name} as MetadataStore`, () => {
    it('a document that was never written is undefined', () =>
      withStore(async (store) => {
        expect(await store.get('a')).toBeUndefined();
      }));

    it('gives back what was put, with its version', () =>
      withStore(async (store) => {
        const first = await store.put('a', bytes(1), 'absent');
        expect(await store.get('a')).toEqual({ value: bytes(1), version: first });
        const second = await store.put('a', bytes(), first);
        expect(second).toBeGreaterThan(first);
        expect(await store.get('a')).toEqual({ value: bytes(), version: second });
      }));

    it('documents do not touch each other', () =>
      withStore(async (store) => {
        await store.put('a', bytes(1), 'absent');
        await store.put('ab', bytes(2), 'absent');
        expect((await store.get('a'))?.value).toEqual(bytes(1));
        expect((await store.get('ab'))?.value).toEqual(bytes(2));
      }));

    it('copies the value', () =>
      withStore(async (store) => {
        const value = bytes(1);
        await store.put('a', value, 'absent');
        value[0] = 9;
        expect((await store.get('a'))?.value).toEqual(bytes(1));
      }));

    it('refuses another version and changes nothing', () =>
      withStore(async (store) => {
        await expect(store.put('a', bytes(1), 1n)).rejects.toThrow(conflict);
        const first = await store.put('a', bytes(1), 'absent');
        await expect(store.put('a', bytes(2), 'absent')).rejects.toThrow(conflict);
        await expect(store.put('a', bytes(2), first + 1n)).rejects.toThrow(conflict);
        const second = await store.put('a', bytes(3), first);
        await expect(store.put('a', bytes(2), first)).rejects.toThrow(conflict);
        expect(await store.get('a')).toEqual({ value: bytes(3), version: second });
      }));

    it('of writers at the same time exactly one wins', () =>
      withStore(async (store) => {
        const version = await store.put('a', bytes(0), 'absent');
        const attempts = Array.from({ length: 10 }, (_, i) => store.put('a', bytes(i), version));
        const outcomes = await Promise.allSettled(attempts);
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
        expect((await store.get('a'))?.value).toEqual(bytes(winner));
      }));

    it('a watch tells what is there, then what changes, in order', () =>
      withStore(async (store) => {
        const first = await store.put('a', bytes(1), 'absent');
        const seen = new Collector();
        const watch = store.watch('a', seen.listen);
        expect(seen.entries).toEqual([]);
        await seen.until(({ version }) => version === first);
        const second = await store.put('a', bytes(2), first);
        const third = await store.put('a', bytes(3), second);
        await store.put('b', bytes(9), 'absent');
        await seen.until(({ version }) => version === third);
        const versions = seen.entries.map(({ version }) => version);
        expect(versions).toEqual([...new Set(versions)].sort((a, b) => Number(a - b)));
        expect(seen.entries.at(-1)?.value).toEqual(bytes(3));
        watch[Symbol.dispose]();
      }));

    it('a watch of nothing waits for the first entry', () =>
      withStore(async (store) => {
        const seen = new Collector();
        const watch = store.watch('a', seen.listen);
        const first = await store.put('a', bytes(1), 'absent');
        await seen.until(({ version }) => version === first);
        expect(seen.entries).toHaveLength(1);
        watch[Symbol.dispose]();
      }));

    it('a watch that was disposed is silent', () =>
      withStore(async (store) => {
        const [ended, other] = [new Collector(), new Collector()];
        const watch = store.watch('a', ended.listen);
        const kept = store.watch('a', other.listen);
        watch[Symbol.dispose]();
        await store.put('a', bytes(1), 'absent');
        await other.until(() => true);
        expect(ended.entries).toEqual([]);
        kept[Symbol.dispose]();
      }));

    it('lists the documents of a prefix by name', () =>
      withStore(async (store) => {
        expect(await store.list('lease/')).toEqual([]);
        const b = await store.put('lease/node/b', bytes(2), 'absent');
        const a = await store.put('lease/node/a.x y', bytes(1), 'absent');
        await store.put('leases', bytes(9), 'absent');
        await store.put('lease', bytes(9), 'absent');
        const c = await store.put('lease/c', bytes(3), 'absent');
        expect(await store.list('lease/node/')).toEqual([
          { name: 'lease/node/a.x y', value: bytes(1), version: a },
          { name: 'lease/node/b', value: bytes(2), version: b },
        ]);
        expect((await store.list('lease/')).map(({ version }) => version)).toEqual([c, a, b]);
      }));

    it('another process sees what was put, and only one of two writers wins', () =>
      withStore(async (store, harness) => {
        if (harness.another === undefined) return;
        const other = await harness.another();
        const seen = new Collector();
        const watch = other.watch('a', seen.listen);
        let version = await store.put('a', bytes(0), 'absent');
        for (let round = 1; round <= 20; round++) {
          expect(await other.get('a')).toEqual({ value: bytes(round - 1), version });
          const both = [store, other].map((writer) => writer.put('a', bytes(round), version));
          const outcomes = await Promise.allSettled(both);
          const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
          expect(won).toHaveLength(1);
          version = won[0]?.value ?? 0n;
        }
        await seen.until((entry) => entry.version === version);
        watch[Symbol.dispose]();
      }));

    it('keeps documents and versions over a restart', () =>
      withStore(async (store, harness) => {
        const version = await store.put('a', bytes(1), 'absent');
        if (harness.reopen === undefined) return;
        const again = await harness.reopen();
        expect(await again.get('a')).toEqual({ value: bytes(1), version });
        await expect(again.put('a', bytes(2), 'absent')).rejects.toThrow(conflict);
        expect(await again.put('a', bytes(2), version)).toBeGreaterThan(version);
      }));
  });
}
