import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type Hashes, type PartitionId } from '@engine/domain';
import { MemoryLogHistory, MemorySharedLog, RecordWriter, type LogPosition } from '@engine/log';
import { requireLeading } from '@engine/log/contract';
import { seededRandom, systemClock } from '@engine/runtime';
import { MemoryObjectStore, PartitionSnapshots } from '@engine/snapshots';
import type { KvEntry } from '@engine/storage';
import { MutationWriter } from '@engine/wire';
import * as fc from 'fast-check';

import { REPLICA_STORE } from '../format.js';
import { LevelKvStore } from '../level-kv-store.js';
import type { OpenReplica } from './open-replica.js';
import { LevelReplicaStores } from './replica-stores.js';

const ONE = toPartitionId(1);
const { signal } = new AbortController();
let hashes: Hashes;
let root: string;

beforeAll(async () => {
  hashes = await loadHashes();
});

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'engine-restore-'));
});

afterEach(() => rm(root, { recursive: true }));

/** A row that is put, or deleted. */
type Change = readonly [key: Uint8Array, value: Uint8Array | undefined];

/** A worker: replicas in a LevelDB of their own. */
async function worker(name: string, objects = new MemoryObjectStore()) {
  const store = await LevelKvStore.open({ directory: join(root, name), kind: REPLICA_STORE });
  const snapshots = new PartitionSnapshots(
    { cluster: 'c', incarnation: 1n, node: name },
    { objects, clock: systemClock, random: seededRandom(1) },
  );
  const stores = await LevelReplicaStores.open({}, { store, source: snapshots });
  const take = async (partition: PartitionId) => {
    const sequence = stores.opened(partition)?.position.sequence ?? 0n;
    const rows = await stores.rows(partition);
    if (rows === undefined) throw new Error('not open');
    return snapshots.take({ partition, sequence, rows, signal });
  };
  const close = async (): Promise<void> => {
    await stores[Symbol.asyncDispose]();
    await store.close();
  };
  return { store, stores, snapshots, take, close };
}

async function lead(replica: OpenReplica, history: MemoryLogHistory, epoch = 1n) {
  const log = new MemorySharedLog({ history, checksum: hashes.xxh3 });
  const { position: from, apply } = replica;
  const leader = requireLeading(await log.takeOver({ epoch, node: 'a', from, apply, signal }));
  const writer = new RecordWriter(leader.position, hashes.xxh3);
  const commit = (changes: readonly Change[]): Promise<void> => {
    const mutations = new MutationWriter();
    for (const [key, value] of changes) {
      const full = Uint8Array.of(1, ...key);
      if (value === undefined) mutations.del(full);
      else mutations.put(full, value);
    }
    return leader.commit(writer.next(mutations.finish()));
  };
  return { log, commit, end: (): LogPosition => leader.position };
}

async function rowsOf(stores: LevelReplicaStores, partition: PartitionId): Promise<KvEntry[]> {
  const rows: KvEntry[] = [];
  for await (const page of (await stores.rows(partition)) ?? []) rows.push(...page);
  return rows;
}

/** Without those that a store keeps for itself. */
async function decidedRows(stores: LevelReplicaStores): Promise<KvEntry[]> {
  return (await rowsOf(stores, ONE)).filter(({ key }) => key[0] === 1);
}

describe('a partition that is restored', () => {
  it('has exactly the rows that it had, whatever stands beside it', async () => {
    const change = fc.tuple(
      fc.uint8Array({ maxLength: 2, max: 4 }),
      fc.option(fc.uint8Array({ maxLength: 300, size: 'max' }), { nil: undefined }),
    );
    const records = fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 12 });
    const plans = fc.array(records, { minLength: 1, maxLength: 4 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(plans, async (partitions) => {
        run += 1;
        const objects = new MemoryObjectStore();
        const from = await worker(`from-${String(run)}`, objects);
        const to = await worker(`to-${String(run)}`, objects);
        for (const [id, plan] of partitions.entries()) {
          const partition = toPartitionId(id * 255);
          const { commit } = await lead(await from.stores.open(partition), new MemoryLogHistory());
          for (const changes of plan) await commit(changes);
        }
        for (const id of partitions.keys()) {
          const partition = toPartitionId(id * 255);
          await from.take(partition);
          const restored = await to.stores.restore(partition, signal);
          expect(restored.position).toEqual(from.stores.opened(partition)?.position);
          expect(await rowsOf(to.stores, partition)).toEqual(await rowsOf(from.stores, partition));
        }
        await from.close();
        await to.close();
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  it('follows the trimmed log to the same chain, on an empty worker', async () => {
    const objects = new MemoryObjectStore();
    const history = new MemoryLogHistory();
    const from = await worker('from', objects);
    const { log, commit, end } = await lead(await from.stores.open(ONE), history);
    const changes = (round: number): Change[] =>
      Array.from({ length: 20 }, (_, row) => [
        Uint8Array.of(row),
        row % 3 === round % 3 ? undefined : Uint8Array.of(round),
      ]);
    for (let round = 0; round < 50; round += 1) await commit(changes(round));
    await from.take(ONE);
    for (let round = 50; round < 80; round += 1) await commit(changes(round));
    const second = await from.take(ONE);
    for (let round = 80; round < 100; round += 1) await commit(changes(round));
    const [, older] = await from.snapshots.list(ONE);
    expect(await log.trim(older?.manifest.position.sequence ?? 0n)).toBe(52n);

    const to = await worker('to', objects);
    const empty = await to.stores.open(ONE);
    const follow = (replica: OpenReplica) =>
      log.follow({ from: replica.position, apply: replica.apply, stopAtEnd: true, signal });
    expect(await follow(empty)).toEqual({ kind: 'trimmed', oldest: 52n });
    const restored = await to.stores.restore(ONE, signal);
    expect(restored.position).toEqual(second.manifest.position);
    expect(await follow(restored)).toMatchObject({ kind: 'at-end', position: end() });
    expect(await decidedRows(to.stores)).toEqual(await decidedRows(from.stores));
    expect(await restored.chainAt(end().sequence)).toBe(end().chain);
    await to.close();

    // And it is found again, and can lead.
    const again = await worker('to', objects);
    const { commit: commitAgain } = await lead(await again.stores.open(ONE), history, 2n);
    await commitAgain(changes(0));
    expect(again.stores.opened(ONE)?.position.sequence).toBe(103n);
    await again.close();
    await from.close();
  });

  it('comes from the older snapshot when the newest is damaged, and follows from there', async () => {
    const objects = new MemoryObjectStore();
    const from = await worker('from', objects);
    const { log, commit, end } = await lead(await from.stores.open(ONE), new MemoryLogHistory());
    await commit([[Uint8Array.of(1), new Uint8Array(1_000)]]);
    await from.take(ONE);
    await commit([[Uint8Array.of(2), new Uint8Array(1_000)]]);
    const { name } = await from.take(ONE);
    await log.trim(2n);
    for (const [object, bytes] of objects.objects) {
      if (object.includes(name) && object.endsWith('.zst')) bytes[20] = (bytes[20] ?? 0) ^ 1;
    }
    const to = await worker('to', objects);
    const { position, apply } = await to.stores.restore(ONE, signal);
    expect(position.sequence).toBe(2n);
    await log.follow({ from: position, apply, stopAtEnd: true, signal });
    expect(to.stores.opened(ONE)?.position).toEqual(end());
    await to.stores.swept();
    await to.close();
    await from.close();
  });

  it('a snapshot is of one moment, while the leader goes on', async () => {
    const objects = new MemoryObjectStore();
    const from = await worker('from', objects);
    const { commit, end } = await lead(await from.stores.open(ONE), new MemoryLogHistory());
    const all = (round: number): Change[] =>
      Array.from({ length: 200 }, (_, row) => [
        Uint8Array.of(row),
        new Uint8Array(5_000).fill(round),
      ]);
    await commit(all(1));
    let isTaken = false;
    const taking = from.take(ONE).finally(() => {
      isTaken = true;
    });
    const { sequence } = end();
    for (let round = 2; !isTaken || round < 5; round += 1) await commit(all(round));
    const { manifest } = await taking;
    const taken = manifest.position.sequence;
    expect(taken).toBeGreaterThanOrEqual(sequence);
    expect(end().sequence).toBeGreaterThan(taken);
    const to = await worker('to', objects);
    await to.stores.restore(ONE, signal);
    const values = await decidedRows(to.stores);
    // The first record was the announcement.
    expect(new Set(values.map(({ value }) => value[0]))).toEqual(new Set([Number(taken) - 1]));
    await to.close();
    await from.close();
  });
});
