import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
import { LOG_START, MemoryLogHistory, MemorySharedLog, RecordWriter } from '@engine/log';
import { requireLeading } from '@engine/log/contract';
import { generationKey, MemoryKvStore, type KvEntry } from '@engine/storage';
import { encodeRow, generationRow, MutationWriter } from '@engine/wire';

import type { OpenReplica } from './open-replica.js';
import {
  LevelReplicaStores,
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

function put(key: number): ReturnType<MutationWriter['finish']> {
  const writer = new MutationWriter();
  writer.put(Uint8Array.of(100, key), Uint8Array.of(key));
  return writer.finish();
}

/** Leads with the replica and applies `count` records. */
async function lead(replica: OpenReplica, count: number, history = new MemoryLogHistory()) {
  const shared = new MemorySharedLog({ history, checksum: hashes.xxh3 });
  const { position: from, apply } = replica;
  const log = requireLeading(await shared.takeOver({ epoch: 3n, node: 'a', from, apply, signal }));
  const writer = new RecordWriter(log.position, hashes.xxh3);
  for (let key = 0; key < count; key += 1) await log.commit(writer.next(put(key)));
  return { shared, log, writer };
}

async function collect(pages: AsyncIterable<readonly KvEntry[]> | undefined): Promise<KvEntry[]> {
  const rows: KvEntry[] = [];
  for await (const page of pages ?? []) rows.push(...page);
  return rows;
}

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
    const stores = await LevelReplicaStores.open({}, { store });
    const replica = await stores.open(ONE);
    expect(replica.position).toEqual(LOG_START);
    const { log } = await lead(replica, 5);
    const again = await (await LevelReplicaStores.open({}, { store })).open(ONE);
    expect(again.position).toEqual(log.position);
    expect(again.place).toEqual(replica.place);
    expect(await again.chainAt(log.position.sequence)).toBe(log.position.chain);
    expect(await again.chainAt(0n)).toBe(0n);
    expect(await again.chainAt(99n)).toBeUndefined();
  });

  it('a replica that was opened anew takes nothing more', async () => {
    const stores = await LevelReplicaStores.open({}, { store: new MemoryKvStore() });
    const replica = await stores.open(ONE);
    const { log, writer } = await lead(replica, 2);
    await stores.open(ONE);
    await expect(log.commit(writer.next(put(9)))).rejects.toThrow('opened anew');
    expect(stores.opened(ONE)?.position.sequence).toBe(3n);
  });

  it('refuses rows that lost a piece of their middle (storage) and of a newer format (META0011)', async () => {
    const store = new MemoryKvStore();
    const stores = await LevelReplicaStores.open({}, { store });
    const first = await stores.open(ONE);
    await lead(first, 5);
    const all = { gte: Uint8Array.of(1), lt: Uint8Array.of(2), limit: 1_000 };
    const links = (await store.scan(all)).filter(({ key }) => key[5] === 130);
    const batch = store.batch();
    batch.del(links[2]?.key ?? Uint8Array.of());
    const newer = { format: 2, generation: 1 };
    batch.put(generationKey(TWO), encodeRow(generationRow, newer));
    await batch.write({ sync: true });
    const code = (value: string) => expect.objectContaining({ code: value });
    await expect(stores.open(ONE)).rejects.toThrow(code('storage'));
    await expect(stores.open(TWO)).rejects.toThrow(code('META0011'));
    await expect(stores.restore(TWO, signal)).rejects.toThrow(code('META0011'));
    expect((await stores.restore(ONE, signal)).position).toEqual(LOG_START);
  });

  it('reads the rows of one partition as of one moment', async () => {
    const stores = await LevelReplicaStores.open({}, { store: new MemoryKvStore() });
    expect(stores.rows(ONE)).toBeUndefined();
    const [one, two] = [await stores.open(ONE), await stores.open(TWO)];
    const { log, writer } = await lead(one, 3);
    await lead(two, 20);
    const rows = stores.rows(ONE);
    await log.commit(writer.next(put(200)));
    const keys = (await collect(rows)).map(({ key }) => [...key]);
    expect(keys.filter(([table]) => table === 100)).toEqual([
      [100, 0],
      [100, 1],
      [100, 2],
    ]);
  });

  it('restores into a new generation and sweeps the old one', async () => {
    const leader = await LevelReplicaStores.open({}, { store: new MemoryKvStore() });
    const led = await leader.open(ONE);
    const history = new MemoryLogHistory();
    const { shared, log } = await lead(led, 30, history);
    const rows = await collect(leader.rows(ONE));

    const store = new MemoryKvStore();
    const events: ReplicaStoresEvent[] = [];
    const stores = await LevelReplicaStores.open(
      {},
      { store, source: sourceOf(rows, led.position), onEvent: (event) => events.push(event) },
    );
    await lead(await stores.open(ONE), 3);
    await lead(await stores.open(TWO), 4);
    const replica = await stores.restore(ONE, signal);
    await stores.swept();
    expect(replica.position).toEqual(log.position);
    expect(await collect(stores.rows(ONE))).toEqual(rows);
    expect(stores.opened(TWO)?.position.sequence).toBe(5n);
    expect(events.map(({ kind }) => kind)).toEqual(['restored', 'swept']);
    const { position: from, apply } = replica;
    expect(await shared.follow({ from, apply, stopAtEnd: true, signal })).toMatchObject({
      kind: 'at-end',
    });
    const cut = await LevelReplicaStores.open({}, { store: store.crash() });
    expect((await cut.open(ONE)).position).toEqual(log.position);
    expect(await collect(cut.rows(ONE))).toEqual(rows);
  });

  it('a restore that ends anywhere before leaves the old replica, and nothing else', async () => {
    const leader = await LevelReplicaStores.open({}, { store: new MemoryKvStore() });
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
      const stores = await LevelReplicaStores.open({}, { store, source: snapshot });
      const old = await stores.open(ONE);
      await lead(old, 3);
      const before = await collect(stores.rows(ONE));
      await store.batch().write({ sync: true });
      writes = step;
      const restored = await stores.restore(ONE, signal).catch(() => undefined);
      const survivor = store.crash();
      const reopened = await LevelReplicaStores.open({}, { store: survivor });
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
    const leader = await LevelReplicaStores.open({}, { store: new MemoryKvStore() });
    const led = await leader.open(ONE);
    await lead(led, 5);
    const rows = await collect(leader.rows(ONE));
    const wrong = { ...led.position, chain: led.position.chain + 1n };
    const store = new MemoryKvStore();
    const stores = await LevelReplicaStores.open({}, { store, source: sourceOf(rows, wrong) });
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
    const stores = await LevelReplicaStores.open({}, { store });
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
    const stores = await LevelReplicaStores.open({}, { store, source });
    await expect(stores.restore(ONE, abort.signal)).rejects.toThrow('abort');
    await stores.swept();
    expect(store.size).toBe(0);
    await stores[Symbol.asyncDispose]();
  });
});
