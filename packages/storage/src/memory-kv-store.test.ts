import { describe, expect, it } from '@jest/globals';

import { kvStoreContract, rangeReaderContract } from '../contract/index.js';
import type { KvStore } from './kv-store.js';
import { MemoryKvStore } from './memory-kv-store.js';

const harness = () =>
  Promise.resolve({
    open: () => Promise.resolve(new MemoryKvStore()),
    reopen: (store: KvStore) => Promise.resolve((store as MemoryKvStore).crash()),
    dispose: () => Promise.resolve(),
  });

kvStoreContract('MemoryKvStore', harness);
rangeReaderContract('MemoryKvStore', harness);

const key = Uint8Array.of(1);
const value = (n: number) => Uint8Array.of(n);

function write(store: MemoryKvStore, n: number, sync: boolean): Promise<void> {
  const batch = store.batch();
  batch.put(Uint8Array.of(n), value(n));
  return batch.write({ sync });
}

describe('the faults of MemoryKvStore', () => {
  it('a power cut takes what was not synced', async () => {
    const store = new MemoryKvStore();
    await write(store, 1, true);
    await write(store, 2, false);
    expect(store.unsyncedCount).toBe(1);
    const after = store.crash();
    expect(after.size).toBe(1);
    expect(() => store.get(key)).toThrow('closed');
  });

  it('a sync saves everything written before it', async () => {
    const store = new MemoryKvStore();
    await write(store, 1, false);
    await write(store, 2, true);
    expect(store.crash().size).toBe(2);
  });

  it('unsynced batches may survive in any choice', async () => {
    const store = new MemoryKvStore();
    await write(store, 1, false);
    await write(store, 2, false);
    const after = store.crash({}, (index) => index === 1);
    expect(after.get(Uint8Array.of(1))).toBeUndefined();
    expect(after.get(Uint8Array.of(2))).toBeDefined();
  });

  it('the hook fails and delays writes, and a crash overtakes a delayed one', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const store = new MemoryKvStore({
      beforeWrite: ({ index }) => {
        if (index === 0) throw new Error('disk on fire');
        return gate;
      },
    });
    await expect(write(store, 1, true)).rejects.toThrow('disk on fire');
    const delayed = write(store, 2, true);
    const after = store.crash();
    release();
    await expect(delayed).rejects.toThrow('closed');
    expect(after.size).toBe(0);
  });
});
