import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { leaseContract, metadataStoreContract } from '@engine/metadata/contract';
import { MemoryKvStore } from '@engine/storage';

import { METADATA_STORE } from './format.js';
import { LevelKvStore } from './level-kv-store.js';
import { LevelMetadataStore, openMetadata } from './level-metadata-store.js';

async function makeHarness() {
  const directory = await mkdtemp(join(tmpdir(), 'engine-metadata-'));
  const openStore = () => LevelKvStore.open({ directory, kind: METADATA_STORE });
  let store = await openStore();
  return {
    store: new LevelMetadataStore(store),
    reopen: async () => {
      await store.close();
      store = await openStore();
      return new LevelMetadataStore(store);
    },
    dispose: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
}

metadataStoreContract('LevelMetadataStore', makeHarness);
leaseContract('LevelMetadataStore', makeHarness);

describe('LevelMetadataStore', () => {
  const value = Uint8Array.of(1);

  it('a put that resolved survives a power cut', async () => {
    const store = new MemoryKvStore();
    const version = await new LevelMetadataStore(store).put('a', value, 'absent');
    const after = new LevelMetadataStore(store.crash());
    expect(await after.get('a')).toEqual({ value, version });
  });

  it('after a failed write nothing is written any more', async () => {
    let isBroken = true;
    const store = new MemoryKvStore({
      beforeWrite: () => (isBroken ? Promise.reject(new Error('EIO')) : undefined),
    });
    const metadata = new LevelMetadataStore(store);
    await expect(metadata.put('a', value, 'absent')).rejects.toThrow('EIO');
    isBroken = false;
    await expect(metadata.put('a', value, 'absent')).rejects.toThrow('reopen');
    expect(await metadata.get('a')).toBeUndefined();
  });
});

describe('the documents on disk', () => {
  const text = (content: string): Uint8Array => Buffer.from(content);
  let root: string;
  let directory: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'engine-metadata-'));
    directory = join(root, 'store');
  });

  afterEach(() => rm(root, { recursive: true }));

  async function write(...documents: readonly (readonly [string, string])[]): Promise<void> {
    const { metadata, close } = await openMetadata(directory);
    for (const [name, content] of documents) {
      const before = await metadata.get(name);
      await metadata.put(name, text(content), before?.version ?? 'absent');
    }
    await close();
  }

  async function read(from = directory): Promise<(string | undefined)[]> {
    const { metadata, close } = await openMetadata(from);
    const entries = await Promise.all([metadata.get('cluster'), metadata.get('schema')]);
    await close();
    return entries.map((entry) => entry && Buffer.from(entry.value).toString());
  }

  it('are the same after every start', async () => {
    await write(['cluster', 'c'], ['schema', 's1'], ['schema', 's2']);
    await write(['schema', 's3']);
    expect(await read()).toEqual(['c', 's3']);
    expect(await read()).toEqual(['c', 's3']);
  });

  it('may be ahead of the ledger by what a crash cut off, each time', async () => {
    await write(['cluster', 'c'], ['schema', 's1']);
    for (const next of ['s2', 's3', 's4']) {
      const ledger = await readFile(join(directory, 'DOCUMENTS'));
      await write(['schema', next]);
      await writeFile(join(directory, 'DOCUMENTS'), ledger);
      expect(await read()).toEqual(['c', next]);
    }
  });

  it('META0005 when the database is older than the ledger', async () => {
    await write(['cluster', 'c'], ['schema', 's1']);
    await cp(directory, join(root, 'old'), { recursive: true });
    await write(['schema', 's2']);
    await writeFile(join(root, 'old', 'DOCUMENTS'), await readFile(join(directory, 'DOCUMENTS')));
    const reading = read(join(root, 'old'));
    await expect(reading).rejects.toThrow("document 'schema'");
    await expect(reading).rejects.toThrow(expect.objectContaining({ code: 'META0005' }));
  });

  /** What comes of the directory when one byte of a file is another one: what was read, or a code. */
  async function outcomeOfDamage(name: string, at: number): Promise<unknown> {
    const copy = join(root, 'copy');
    await cp(directory, copy, { recursive: true });
    const bytes = await readFile(join(copy, name));
    bytes[at] = (bytes[at] ?? 0) ^ 0x55;
    await writeFile(join(copy, name), bytes);
    try {
      return await read(copy);
    } catch (error) {
      return (error as { readonly code: unknown }).code;
    } finally {
      await rm(copy, { recursive: true });
    }
  }

  /** Every file, at places spread over it, with the documents in the write-ahead file and in a table. */
  it.each([0, 1])(
    'one damaged byte is refused or harmless, never read (%i starts later)',
    async (starts) => {
      const schema = JSON.stringify(Array.from({ length: 40 }, (_, n) => `dp_${String(n)}`));
      await write(['cluster', 'c'], ['schema', schema]);
      for (let start = 0; start < starts; start += 1) await read();
      const outcomes = new Map<unknown, number>();
      for (const name of await readdir(directory)) {
        const { length } = await readFile(join(directory, name));
        for (let at = 0; at < length; at += Math.ceil(length / 40)) {
          const outcome = await outcomeOfDamage(name, at);
          const isRead = Array.isArray(outcome);
          if (isRead) expect([name, at, outcome]).toEqual([name, at, ['c', schema]]);
          const word = isRead ? 'harmless' : outcome;
          outcomes.set(word, (outcomes.get(word) ?? 0) + 1);
        }
      }
      const words = ['META0005', 'META0010', 'harmless'];
      expect([...outcomes.keys()].filter((word) => !words.includes(String(word)))).toEqual([]);
      expect(outcomes.get('META0005')).toBeGreaterThan(20);
    },
    60_000,
  );
});
