import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
import {
  LOG_START,
  MemoryLogHistory,
  MemorySharedLog,
  RecordWriter,
  type LogRecord,
} from '@engine/log';
import { requireLeading } from '@engine/log/contract';
import type { Scheduler } from '@engine/runtime';
import { Deferred } from '@engine/stdx';
import { MemoryKvStore, partitionPrefix } from '@engine/storage';
import { MutationWriter } from '@engine/wire';

import { Replica } from './replica.js';
import { WriteBehind } from './write-behind.js';

const place = { partition: toPartitionId(1), generation: 2 };
const { signal } = new AbortController();
/** Nothing is written because time goes by. */
const NEVER: Scheduler = {
  immediate: () => undefined,
  after: () => ({ cancel: () => undefined }),
};
let hashes: Hashes;

beforeAll(async () => {
  hashes = await loadHashes();
});

function put(key: number): ReturnType<MutationWriter['finish']> {
  const writer = new MutationWriter();
  writer.put(Uint8Array.of(100, key), Uint8Array.of(key));
  return writer.finish();
}

/** On a store of its own, whose writes are awaited by `written` alone. */
async function open(store: MemoryKvStore) {
  const writes = new WriteBehind({ store, scheduler: NEVER });
  return { writes, replica: await Replica.open({ place }, { store, writes }) };
}

/** A leader with five records, and what its store holds. */
async function led() {
  const shared = new MemorySharedLog({ history: new MemoryLogHistory(), checksum: hashes.xxh3 });
  const store = new MemoryKvStore();
  const { writes, replica } = await open(store);
  const { position: from, apply } = replica;
  const log = requireLeading(await shared.takeOver({ epoch: 3n, node: 'a', from, apply, signal }));
  const writer = new RecordWriter(log.position, hashes.xxh3);
  for (let key = 0; key < 5; key += 1) await log.commit(writer.next(put(key)));
  return { shared, store, writes, replica, log, writer };
}

const rowKey = (key: number): Uint8Array => Uint8Array.of(...partitionPrefix(place), 100, key);

describe('Replica', () => {
  it('an empty store stands at the start of the log', async () => {
    const { replica } = await open(new MemoryKvStore());
    expect(replica.position).toEqual(LOG_START);
  });

  it('shows what it applied, and knows its position when it is opened again after that was written', async () => {
    const { store, writes, replica, log } = await led();
    expect(replica.position).toEqual(log.position);
    expect(replica.chainAt(log.position.sequence)).toBe(log.position.chain);
    expect(writes.get(rowKey(4))).toEqual(Uint8Array.of(4));
    expect(store.size).toBe(0);
    await writes.written();
    expect((await open(store)).replica.position).toEqual(log.position);
    expect(store.get(rowKey(4))).toEqual(Uint8Array.of(4));
  });

  it('what a power cut takes is read again from the log', async () => {
    const { shared, store, writes, log } = await led();
    await writes.written();
    expect(store.unsyncedCount).toBeGreaterThan(0);
    const cut = store.crash();
    const { replica, writes: again } = await open(cut);
    expect(replica.position.sequence).toBeLessThan(log.position.sequence);
    const { position: from, apply } = replica;
    await shared.follow({ from, apply, stopAtEnd: true, signal });
    expect(replica.position).toEqual(log.position);
    await again.written();
    expect(cut.get(rowKey(4))).toEqual(Uint8Array.of(4));
  });

  it('a crash before it was written leaves the replica further back, at a whole record, and the log has the rest', async () => {
    const { shared, store, writes, replica, log, writer } = await led();
    await writes.written();
    const written = replica.position;
    for (let key = 5; key < 8; key += 1) await log.commit(writer.next(put(key)));
    const { replica: next, writes: again } = await open(store.crash({}, () => true));
    expect(next.position).toEqual(written);
    expect(again.get(rowKey(5))).toBeUndefined();
    const { position: from, apply } = next;
    await shared.follow({ from, apply, stopAtEnd: true, signal });
    expect(next.position).toEqual(log.position);
    expect(again.get(rowKey(7))).toEqual(Uint8Array.of(7));
  });

  it('a large record stands behind everything that was applied before it', async () => {
    const { store, replica, log, writer } = await led();
    const large = new MutationWriter();
    large.put(Uint8Array.of(100, 0), new Uint8Array(300 * 1024).fill(9));
    await log.commit(writer.next(large.finish()));
    expect((await open(store)).replica.position).toEqual(replica.position);
    expect(store.get(rowKey(4))).toEqual(Uint8Array.of(4));
    await log.commit(writer.next(put(0)));
    expect(store.get(rowKey(0))?.length).toBe(300 * 1024);
  });

  it('waits for the disk when too much is unwritten, and rejects when that fails', async () => {
    let end = new Deferred<undefined>();
    const store = new MemoryKvStore({ beforeWrite: () => end.promise.then(() => undefined) });
    const { replica, writes } = await open(store);
    const writer = new RecordWriter(LOG_START, hashes.xxh3);
    const record = (key: number): LogRecord => {
      const mutations = new MutationWriter();
      mutations.put(Uint8Array.of(100, key), new Uint8Array(200 * 1024));
      return { ...writer.next(mutations.finish()), epoch: 1n };
    };
    let count = 0;
    for (; !writes.isFull; count += 1) await replica.apply(record(count));
    expect(count).toBe(41);
    let isApplied = false;
    const waiting = replica.apply(record(count)).then(() => {
      isApplied = true;
    });
    await new Promise(setImmediate);
    expect(isApplied).toBe(false);
    end.resolve(undefined);
    await waiting;
    expect(store.get(rowKey(count - 1))).toBeDefined();
    end = new Deferred();
    for (count += 1; !writes.isFull; count += 1) await replica.apply(record(count));
    const refused = replica.apply(record(count));
    end.reject(new Error('no space'));
    await expect(refused).rejects.toThrow(expect.objectContaining({ code: 'storage' }));
    expect(replica.position.sequence).toBe(BigInt(count));
  });

  it('of a record that is damaged nothing reaches the store, nor of what follows', async () => {
    const { store, writes, replica, log, writer } = await led();
    await writes.written();
    const [heard, before] = [[] as unknown[], store.size];
    writes.onFailed((error) => heard.push(error));
    const { mutations, ...rest } = writer.next(put(5));
    const bytes = new Uint8Array([...mutations.bytes, 0xff]);
    const damaged = { ...rest, mutations: { ...mutations, bytes } };
    await expect(replica.apply(damaged)).rejects.toThrow();
    expect(heard).toHaveLength(1);
    await expect(writes.written()).rejects.toThrow(expect.objectContaining({ code: 'storage' }));
    expect(store.size).toBe(before);
    expect((await open(store)).replica.position).toEqual(log.position);
  });

  it('refuses a record that leaves a gap', async () => {
    const { replica } = await led();
    const writer = new RecordWriter(replica.position, hashes.xxh3);
    writer.next(put(1));
    await expect(replica.apply(writer.next(put(2)))).rejects.toThrow('gap');
  });
});
