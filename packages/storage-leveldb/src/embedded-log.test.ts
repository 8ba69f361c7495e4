import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type EngineError, type Hashes } from '@engine/domain';
import { RecordWriter, type PartitionLog } from '@engine/log';
import { partitionLogContract } from '@engine/log/contract';
import {
  MemoryKvStore,
  partitionPrefix,
  TABLES,
  type KvStore,
  type MemoryKvStoreOptions,
} from '@engine/storage';
import { MutationWriter, type EncodedMutations } from '@engine/wire';

import { EmbeddedLog } from './embedded-log.js';
import { PARTITION_STORE } from './format.js';
import { LevelKvStore } from './level-kv-store.js';

const place = { partition: toPartitionId(1), generation: 0 };
const second = { partition: toPartitionId(2), generation: 0 };
let hashes: Hashes;

beforeAll(async () => {
  hashes = await loadHashes();
});

function fail(error: EngineError): void {
  throw error;
}

function openOn(store: KvStore, places = [place]): Promise<EmbeddedLog> {
  return EmbeddedLog.open({ places }, { store, onFatal: fail });
}

function read(store: KvStore, key: Uint8Array): Uint8Array | undefined {
  return store.get(Uint8Array.of(...partitionPrefix(place), ...key));
}

partitionLogContract('EmbeddedLog on MemoryKvStore', () => {
  let store = new MemoryKvStore();
  const open = async () => (await openOn(store)).partition(place.partition);
  return Promise.resolve({
    checksum: hashes.xxh3,
    announcements: 0n,
    open,
    reopen: () => {
      store = store.crash();
      return open();
    },
    read: (key: Uint8Array) => read(store, key),
    close: () => store.close(),
  });
});

partitionLogContract('EmbeddedLog on LevelKvStore', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'engine-log-'));
  const openStore = () => LevelKvStore.open({ directory, kind: PARTITION_STORE });
  let store = await openStore();
  const open = async () => (await openOn(store)).partition(place.partition);
  return {
    checksum: hashes.xxh3,
    announcements: 0n,
    open,
    reopen: async () => {
      await store.close();
      store = await openStore();
      return open();
    },
    read: (key) => read(store, key),
    close: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
});

function put(key: number, bytes = 1): EncodedMutations {
  const writer = new MutationWriter();
  writer.put(Uint8Array.of(100, key), new Uint8Array(bytes));
  return writer.finish();
}

const writerOf = (log: PartitionLog) => new RecordWriter(log.position, hashes.xxh3);

/** A store that counts batches and can hold them back. */
function gatedStore(options: MemoryKvStoreOptions = {}): {
  store: MemoryKvStore;
  writes: number[];
} {
  const writes: number[] = [];
  const store = new MemoryKvStore({
    beforeWrite: (write) => {
      writes.push(write.operationCount);
      return options.beforeWrite?.(write);
    },
  });
  return { store, writes };
}

describe('EmbeddedLog', () => {
  it('records of one turn share a batch, and those that come meanwhile share the next', async () => {
    const { store, writes } = gatedStore();
    const log = await openOn(store, [place, second]);
    const a = log.partition(place.partition);
    const b = log.partition(second.partition);
    const [writeA, writeB] = [writerOf(a), writerOf(b)];
    writes.length = 0;
    await Promise.all([a.commit(writeA.next(put(1))), b.commit(writeB.next(put(1)))]);
    expect(writes).toHaveLength(1);
    const first = a.commit(writeA.next(put(2)));
    await Promise.resolve();
    await Promise.resolve();
    const late = b.commit(writeB.next(put(2)));
    await Promise.all([first, late]);
    expect(writes).toHaveLength(3);
    expect(store.unsyncedCount).toBe(0);
  });

  it('takes one record of a partition at a time', async () => {
    const log = (await openOn(new MemoryKvStore())).partition(place.partition);
    const writer = writerOf(log);
    const first = log.commit(writer.next(put(1)));
    expect(() => log.commit(writer.next(put(2)))).toThrow('in flight');
    await first;
  });

  it('a failed sync is reported once, and nothing resolves any more', async () => {
    const errors: EngineError[] = [];
    let isBroken = false;
    const store = new MemoryKvStore({
      beforeWrite: () => (isBroken ? Promise.reject(new Error('EIO')) : undefined),
    });
    const onFatal = (error: EngineError) => errors.push(error);
    const log = await EmbeddedLog.open({ places: [place, second] }, { store, onFatal });
    const a = log.partition(place.partition);
    const b = log.partition(second.partition);
    isBroken = true;
    const resolved: string[] = [];
    void a.commit(writerOf(a).next(put(1))).then(() => resolved.push('a'));
    void b.commit(writerOf(b).next(put(1))).then(() => resolved.push('b'));
    await log.close();
    isBroken = false;
    const writer = writerOf(a);
    expect(() => a.commit(writer.next(put(2)))).toThrow('in flight');
    await store.close();
    expect(errors).toMatchObject([{ code: 'storage' }]);
    expect(resolved).toEqual([]);
    expect(a.position.sequence).toBe(0n);
  });

  it('begins a new epoch durably before anything else', async () => {
    const store = new MemoryKvStore();
    await openOn(store);
    const log = await openOn(store.crash());
    expect(log.partition(place.partition).position.epoch).toBe(2n);
  });

  it('refuses records after close, when all queued ones are durable', async () => {
    const store = new MemoryKvStore();
    const log = await openOn(store);
    const partition = log.partition(place.partition);
    const writer = writerOf(partition);
    const queued = partition.commit(writer.next(put(1)));
    await log.close();
    await queued;
    await expect(partition.commit(writer.next(put(2)))).rejects.toThrow('closed');
    expect(store.crash().get(Uint8Array.of(...partitionPrefix(place), 100, 1))).toBeDefined();
  });
});

describe('lost writes', () => {
  const chainKey = (sequence: number) =>
    Uint8Array.of(...partitionPrefix(place), TABLES.chain, 0, 0, 0, 0, 0, 0, 0, sequence);
  const positionKey = Uint8Array.of(...partitionPrefix(place), TABLES.position);

  async function filled(records: number): Promise<MemoryKvStore> {
    const store = new MemoryKvStore();
    const log = (await openOn(store)).partition(place.partition);
    const writer = writerOf(log);
    for (let i = 0; i < records; i++) await log.commit(writer.next(put(i)));
    return store;
  }

  async function without(store: MemoryKvStore, ...keys: Uint8Array[]): Promise<MemoryKvStore> {
    const batch = store.batch();
    for (const key of keys) batch.del(key);
    await batch.write({ sync: true });
    return store;
  }

  const refused = expect.objectContaining({
    code: 'storage',
    message: expect.stringContaining('lost writes'),
  });

  it.each([1, 3, 5])('a gap at record %i of 5 is refused', async (sequence) => {
    const store = await without(await filled(5), chainKey(sequence));
    await expect(openOn(store)).rejects.toThrow(refused);
  });

  it('the loss of all chain rows is refused', async () => {
    const store = await without(await filled(2), chainKey(1), chainKey(2));
    await expect(openOn(store)).rejects.toThrow(refused);
  });

  it('a torn key of a chain row is refused', async () => {
    const store = await filled(2);
    const batch = store.batch();
    batch.put(chainKey(2).subarray(0, -3), Uint8Array.of(8, 1));
    await batch.write({ sync: true });
    await expect(openOn(store)).rejects.toThrow(refused);
  });

  it('rows without a position are refused', async () => {
    const store = await without(await filled(2), positionKey);
    await expect(openOn(store)).rejects.toThrow(refused);
  });

  it('rows are kept for four write buffers and trimmed behind them', async () => {
    const store = new MemoryKvStore();
    const writeBufferBytes = 1024 * 1024;
    const options = { places: [place], writeBufferBytes };
    const open = () => EmbeddedLog.open(options, { store, onFatal: fail });
    const log = (await open()).partition(place.partition);
    const writer = writerOf(log);
    const kept = () => {
      let count = 0;
      for (let i = 1; i <= 60; i++) if (store.get(chainKey(i)) !== undefined) count++;
      return count;
    };
    for (let i = 0; i < 60; i++) await log.commit(writer.next(put(i % 5, 256 * 1024)));
    expect(kept()).toBeGreaterThanOrEqual(16);
    expect(kept()).toBeLessThan(30);
    const again = (await open()).partition(place.partition);
    expect(again.position.sequence).toBe(60n);
    const next = writerOf(again);
    for (let i = 0; i < 20; i++) await again.commit(next.next(put(i % 5, 256 * 1024)));
    expect(store.get(chainKey(50))).toBeUndefined();
    await open();
  });
});
