import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import { leaseContract, metadataStoreContract } from '@engine/metadata/contract';
import { MemoryKvStore } from '@engine/storage';

import { METADATA_STORE } from './format.js';
import { LevelKvStore } from './level-kv-store.js';
import { LevelMetadataStore } from './level-metadata-store.js';

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
