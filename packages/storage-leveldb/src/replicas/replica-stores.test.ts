import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
import { LOG_START, MemoryLogHistory, MemorySharedLog, RecordWriter } from '@engine/log';
import { requireLeading } from '@engine/log/contract';
import type { Scheduler } from '@engine/runtime';
import { Deferred } from '@engine/stdx';
import {
  generationKey,
  MemoryKvStore,
  partitionPrefix,
  prefixEnd,
  type KvEntry,
} from '@engine/storage';
import { encodeRow, generationRow, MutationWriter } from '@engine/wire';

import type { OpenReplica } from './open-replica.js';
import {
  LevelReplicaStores,
  type LevelReplicaStoresDependencies,
  type ReplicaStoresEvent,
  type RestoreSource,
} from './replica-stores.js';

const ONE = toPartitionId(1);
const TWO = toPartitionId(2);
const { signal } = new AbortController();
let hashes: Hashes;

beforeAll(async () => {
  hashes = await loadHashes();
});

/** Nothing is written because time goes by. */
const scheduler: Scheduler = {
  immediate: () => undefined,
  after: () => ({ cancel: () => undefined }),
};

function open(
  dependencies: Omit<LevelReplicaStoresDependencies, 'scheduler'>,
): Promise<LevelReplicaStores> {
  return LevelReplicaStores.open({}, { ...dependencies, scheduler });
}

function put(key: number): ReturnType<MutationWriter['finish']> {
  const writer = new MutationWriter();
  writer.put(Uint8Array.of(100, key), Uint8Array.of(key));
  return writer.finish();
}

/** Leads with the replica and applies `count` records; some of them are not written yet. */
async function lead(replica: OpenReplica, count: number, history = new MemoryLogHistory()) {
  const shared = new MemorySharedLog({ history, checksum: hashes.xxh3 });
  const { position: from, apply } = replica;
  const log = requireLeading(await shared.takeOver({ epoch: 3n, node: 'a', from, apply, signal }));
  const writer = new RecordWriter(log.position, hashes.xxh3);
  for (let key = 0; key < count; key += 1) await log.commit(writer.next(put(key)));
  return { shared, log, writer };
}

async function collect(
  pages: Promise<AsyncIterable<readonly KvEntry[]> | undefined>,
): Promise<KvEntry[]> {
  const rows: KvEntry[] = [];
  for await (const page of (await pages) ?? []) rows.push(...page);
  return rows;
}

/** What is thrown with this code. */
const coded = (code: string) => expect.objectContaining({ code });

/** A source with one snapshot. */
function sourceOf(rows: readonly KvEntry[], position: OpenReplica['position']): RestoreSource {
  return {
    restore: async (_partition, begin) => {
      const target = begin();
      await target.write(rows);
      const problem = await target.problem(position);
      if (problem !== undefined) throw new Error(problem);
      return position;
    },
  };
}

describe('LevelReplicaStores', () => {
  it('opens an empty replica where there is none, and finds it again', async () => {
    const store = new MemoryKvStore();
    const stores = await open({ store });
    const replica = await stores.open(ONE);
    expect(replica.position).toEqual(LOG_START);
    const { log } = await lead(replica, 5);
    await replica.written();
    const again = await (await open({ store })).open(ONE);
    expect(again.position).toEqual(log.position);
    expect(again.place).toEqual(replica.place);
    expect(await again.chainAt(log.position.sequence)).toBe(log.position.chain);
    expect(await again.chainAt(0n)).toBe(0n);
    expect(await again.chainAt(99n)).toBeUndefined();
  });

  it('a replica that was opened anew takes nothing more', async () => {
    const stores = await open({ store: new MemoryKvStore() });
    const replica = await stores.open(ONE);
    const { log, writer } = await lead(replica, 2);
    expect((await stores.open(ONE)).position).toEqual(log.position);
    await expect(log.commit(writer.next(put(9)))).rejects.toThrow('opened anew');
    expect(stores.opened(ONE)?.position.sequence).toBe(3n);
  });

  it('refuses rows that lost a piece of their middle (storage) and of a newer format (META0011)', async () => {
    const store = new MemoryKvStore();
    const stores = await open({ store });
    const first = await stores.open(ONE);
    await lead(first, 5);
    await first.written();
    const all = { gte: Uint8Array.of(1), lt: Uint8Array.of(2), limit: 1_000 };
    const links = (await store.scan(all)).filter(({ key }) => key[5] === 130);
    const batch = store.batch();
    batch.del(links[2]?.key ?? Uint8Array.of());
    const newer = { format: 2, generation: 1 };
    batch.put(generationKey(TWO), encodeRow(generationRow, newer));
    await batch.write({ sync: true });
    await expect(stores.open(ONE)).rejects.toThrow(coded('storage'));
    await expect(stores.open(TWO)).rejects.toThrow(coded('META0011'));
    await expect(stores.restore(TWO, signal)).rejects.toThrow(coded('META0011'));
    expect((await stores.restore(ONE, signal)).position).toEqual(LOG_START);
  });

  it('reads the rows of one partition as of one moment', async () => {
    const stores = await open({ store: new MemoryKvStore() });
    expect(await stores.rows(ONE)).toBeUndefined();
    const [one, two] = [await stores.open(ONE), await stores.open(TWO)];
    const { log, writer } = await lead(one, 3);
    await lead(two, 20);
    const rows = await stores.rows(ONE);
    await log.commit(writer.next(put(200)));
    await one.written();
    const keys = (await collect(Promise.resolve(rows))).map(({ key }) => [...key]);
    expect(keys.filter(([table]) => table === 100)).toEqual([
      [100, 0],
      [100, 1],
      [100, 2],
    ]);
  });

  it('writes what was applied before it is closed', async () => {
    const store = new MemoryKvStore();
    const stores = await open({ store });
    const { log } = await lead(await stores.open(ONE), 5);
    await stores[Symbol.asyncDispose]();
    expect((await (await open({ store })).open(ONE)).position).toEqual(log.position);
  });

  it('restores into a new generation and sweeps the old one', async () => {
    const leader = await open({ store: new MemoryKvStore() });
    const led = await leader.open(ONE);
    const history = new MemoryLogHistory();
    const { shared, log } = await lead(led, 30, history);
    const rows = await collect(leader.rows(ONE));

    const store = new MemoryKvStore();
    const events: ReplicaStoresEvent[] = [];
    const source = sourceOf(rows, led.position);
    const stores = await open({ store, source, onEvent: (event) => events.push(event) });
    const old = await stores.open(ONE);
    await lead(old, 3);
    await lead(await stores.open(TWO), 4);
    const replica = await stores.restore(ONE, signal);
    await stores.swept();
    await stores.opened(TWO)?.written();
    const gte = partitionPrefix(old.place);
    expect(await store.scan({ gte, lt: prefixEnd(gte), limit: 1 })).toEqual([]);
    expect(replica.position).toEqual(log.position);
    expect(await collect(stores.rows(ONE))).toEqual(rows);
    expect(stores.opened(TWO)?.position.sequence).toBe(5n);
    expect(events.map(({ kind }) => kind)).toEqual(['restored', 'swept']);
    const { position: from, apply } = replica;
    expect(await shared.follow({ from, apply, stopAtEnd: true, signal })).toMatchObject({
      kind: 'at-end',
    });
    const cut = await open({ store: store.crash() });
    expect((await cut.open(ONE)).position).toEqual(log.position);
    expect(await collect(cut.rows(ONE))).toEqual(rows);
  });

  it('a restore that ends anywhere before leaves the old replica, and nothing else', async () => {
    const leader = await open({ store: new MemoryKvStore() });
    const led = await leader.open(ONE);
    await lead(led, 30);
    const rows = await collect(leader.rows(ONE));
    const snapshot: RestoreSource = {
      restore: async (_partition, begin) => {
        const target = begin();
        for (let at = 0; at < rows.length; at += 10) await target.write(rows.slice(at, at + 10));
        expect(await target.problem(led.position)).toBeUndefined();
        return led.position;
      },
    };
    for (let step = 0; ; step += 1) {
      let writes = -1;
      const store = new MemoryKvStore({
        beforeWrite: () => {
          if (writes === 0) throw new Error('the machine died');
          writes -= 1;
          return undefined;
        },
      });
      const stores = await open({ store, source: snapshot });
      const old = await stores.open(ONE);
      await lead(old, 3);
      const before = await collect(stores.rows(ONE));
      await store.batch().write({ sync: true });
      writes = step;
      const restored = await stores.restore(ONE, signal).catch(() => undefined);
      const survivor = store.crash();
      const reopened = await open({ store: survivor });
      await reopened.open(ONE);
      await reopened.swept();
      expect(await collect(reopened.rows(ONE))).toEqual(restored === undefined ? before : rows);
      // Rows of one generation, and the row that names it.
      expect(survivor.size).toBe((restored === undefined ? before : rows).length + 1);
      if (restored !== undefined) break;
      expect(step).toBeLessThan(20);
    }
  });

  it('does not count what a snapshot says and its rows do not', async () => {
    const leader = await open({ store: new MemoryKvStore() });
    const led = await leader.open(ONE);
    await lead(led, 5);
    const rows = await collect(leader.rows(ONE));
    const wrong = { ...led.position, chain: led.position.chain + 1n };
    const store = new MemoryKvStore();
    const stores = await open({ store, source: sourceOf(rows, wrong) });
    await expect(stores.restore(ONE, signal)).rejects.toThrow('the rows stand at');
    await stores.swept();
    expect(store.size).toBe(0);
  });

  it('leaves the rows of a process without cluster, and those of a newer server, alone', async () => {
    const store = new MemoryKvStore();
    const batch = store.batch();
    batch.put(Uint8Array.of(1, 0, 1, 0, 0, 7), Uint8Array.of(1));
    batch.put(Uint8Array.of(1, 0, 2, 0, 5, 7), Uint8Array.of(1));
    batch.put(generationKey(TWO), encodeRow(generationRow, { format: 2, generation: 6 }));
    await batch.write({ sync: true });
    const stores = await open({ store });
    await stores.swept();
    expect(store.size).toBe(3);
  });

  it('a restore can be broken off', async () => {
    const store = new MemoryKvStore();
    const abort = new AbortController();
    const source: RestoreSource = {
      restore: async (_partition, begin, either) => {
        await begin().write([{ key: Uint8Array.of(100), value: Uint8Array.of(1) }]);
        abort.abort();
        either.throwIfAborted();
        return undefined;
      },
    };
    const stores = await open({ store, source });
    await expect(stores.restore(ONE, abort.signal)).rejects.toThrow('abort');
    await stores.swept();
    expect(store.size).toBe(0);
    await stores[Symbol.asyncDispose]();
  });
});

describe('LevelReplicaStores on a disk that fails', () => {
  /** Two partitions, of which a part is written and a part is not; writes are in the hands of the test from then on. */
  async function failing() {
    const held: { writes: Deferred<undefined>[] | undefined } = { writes: undefined };
    const store = new MemoryKvStore({
      beforeWrite: () => {
        const end = new Deferred<undefined>();
        if (held.writes === undefined) end.resolve(undefined);
        held.writes?.push(end);
        return end.promise.then(() => undefined);
      },
    });
    const stores = await open({ store });
    const [one, two] = [await stores.open(ONE), await stores.open(TWO)];
    const [ofOne, ofTwo] = [await lead(one, 3), await lead(two, 3)];
    await one.written();
    const written = { one: one.position, two: two.position };
    await ofOne.log.commit(ofOne.writer.next(put(3)));
    await ofTwo.log.commit(ofTwo.writer.next(put(3)));
    const heard: unknown[] = [];
    for (const replica of [one, two]) replica.onFailed((error) => heard.push(error));
    const writes: Deferred<undefined>[] = [];
    held.writes = writes;
    const letGo = (): void => {
      held.writes = undefined;
    };
    return { store, stores, one, two, ofOne, ofTwo, written, heard, writes, letGo };
  }

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('tells every replica; one that is opened anew sees what was written, and the log gives the rest', async () => {
    const { stores, one, two, ofOne, written, heard, writes, letGo } = await failing();
    const end = one.position;
    const [waiting, rows] = [one.written(), stores.rows(TWO)];
    await turn();
    expect(heard).toEqual([]);
    const error = new Error('no space');
    writes[0]?.reject(error);
    letGo();
    await expect(waiting).rejects.toThrow(coded('storage'));
    await expect(rows).rejects.toThrow(coded('storage'));
    expect(heard).toEqual([error, error]);

    const again = await stores.open(ONE);
    expect(again.position).toEqual(written.one);
    const { position: from, apply } = again;
    await ofOne.shared.follow({ from, apply, stopAtEnd: true, signal });
    expect(again.position).toEqual(end);
    await again.written();
    // The other one still shows what it showed, and shows nothing to those who copy it.
    expect(two.position.sequence).toBe(written.two.sequence + 1n);
    expect(await two.chainAt(two.position.sequence)).toBe(two.position.chain);
    await expect(stores.rows(TWO)).rejects.toThrow(coded('storage'));
    expect((await stores.open(TWO)).position).toEqual(written.two);
  });

  it('gives no rows of a replica that is opened anew meanwhile', async () => {
    const { stores, writes, letGo } = await failing();
    const rows = stores.rows(ONE);
    const opening = stores.restore(ONE, signal);
    await turn();
    writes[0]?.resolve(undefined);
    letGo();
    expect(await rows).toBeUndefined();
    await opening;
  });

  it('opening one partition asks nothing of what others have not written', async () => {
    const { stores, heard, writes } = await failing();
    const opening = stores.open(toPartitionId(3));
    await turn();
    // Its generation.
    writes[0]?.resolve(undefined);
    expect((await opening).position).toEqual(LOG_START);
    expect(writes).toHaveLength(1);
    expect(heard).toEqual([]);
  });

  it('is not opened before the write that is under way is over, and stands where that left it', async () => {
    const { stores, one, two, ofTwo, writes, letGo } = await failing();
    const end = one.position;
    const waiting = one.written().catch(() => undefined);
    await turn();
    expect(writes).toHaveLength(1);
    const { mutations, ...rest } = ofTwo.writer.next(put(9));
    const bytes = new Uint8Array([...mutations.bytes, 0xff]);
    await expect(two.apply({ ...rest, mutations: { ...mutations, bytes } })).rejects.toThrow();
    let opened: OpenReplica | undefined;
    const opening = stores.open(ONE).then((replica) => {
      opened = replica;
    });
    await turn();
    expect(opened).toBeUndefined();
    writes[0]?.resolve(undefined);
    letGo();
    await Promise.all([opening, waiting]);
    expect(opened?.position).toEqual(end);
  });
});
