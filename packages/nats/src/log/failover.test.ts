/** A leader commits while the servers under its stream die or freeze: callers wait, nothing is lost, nothing is doubled. */

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NatsServers, waitUntil } from '@engine-test/support';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
import { LOG_START, RecordWriter, type LogHealth, type LogRecord } from '@engine/log';
import { ReplicaStore, requireLeading } from '@engine/log/contract';
import { systemClock, systemScheduler } from '@engine/runtime';
import { MutationWriter } from '@engine/wire';

import { describeWithNats } from '../../contract/describe-with-nats.js';
import { Nats } from '../nats.js';
import { logStream } from '../subjects.js';
import type { StreamLog } from './stream-log.js';

const GAP_MS_MAX = 20_000;

describeWithNats('with three nats-servers', () => {
  let servers: NatsServers;
  let nats: Nats;
  let hashes: Hashes;
  const identity = { cluster: 'failover', partition: toPartitionId(7), incarnation: 1n };

  beforeAll(async () => {
    hashes = await loadHashes();
    servers = await NatsServers.start({ nodeCount: 3 });
    const dependencies = { clock: systemClock, scheduler: systemScheduler };
    nats = await Nats.connect({ servers: servers.urls, name: 'failover' }, dependencies);
  }, 60_000);

  afterAll(async () => {
    await nats[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  const openLog = (): Promise<StreamLog> =>
    nats.openLog({ identity, replicas: 3, checksum: hashes.xxh3 });

  const leader = (): Promise<number> =>
    waitUntil('the stream has a leader', () => servers.streamLeader(logStream(identity)));

  /** Commits one record after the other until told to end; the longest wait for one is the gap. */
  async function commitThrough(
    epoch: bigint,
    fault: () => Promise<void>,
  ): Promise<{ gapMs: number; store: ReplicaStore }> {
    const log = await openLog();
    const store = new ReplicaStore();
    const signal = new AbortController().signal;
    const candidate = { epoch, node: 'x', from: LOG_START, apply: store.apply, signal };
    const led = requireLeading(await log.takeOver(candidate));
    const writer = new RecordWriter(led.position, hashes.xxh3);
    let [gapMs, isOver, afterFault] = [0, false, 0];
    const commits = (async () => {
      for (let key = 0; !isOver || afterFault < 20; key += 1) {
        const mutations = new MutationWriter();
        // Some are so large that they come in parts.
        mutations.put(
          Uint8Array.of(1, key & 0xff),
          new Uint8Array(key % 50 === 49 ? 1_500_000 : 500),
        );
        const startedAt = performance.now();
        await led.commit(writer.next(mutations.finish()));
        gapMs = Math.max(gapMs, performance.now() - startedAt);
        if (isOver) afterFault += 1;
      }
    })();
    await waitUntil('some records are committed', () => store.records.length > 120);
    try {
      await fault();
    } finally {
      isOver = true;
    }
    await commits;
    led.resign();
    return { gapMs, store };
  }

  async function expectSameHistory(store: ReplicaStore): Promise<void> {
    const replica = new ReplicaStore();
    const { apply } = replica;
    const signal = new AbortController().signal;
    const outcome = await (
      await openLog()
    ).follow({ from: LOG_START, apply, stopAtEnd: true, signal });
    expect(outcome).toMatchObject({ kind: 'at-end', position: store.position });
    const chains = (records: readonly LogRecord[]) => records.map(({ chain }) => chain);
    expect(chains(replica.records)).toEqual(chains(store.records));
  }

  it('the stream leader is killed', async () => {
    const { gapMs, store } = await commitThrough(1n, async () => {
      const node = await leader();
      await servers.kill(node);
      await waitUntil('another leads', async () => {
        const next = await servers.streamLeader(logStream(identity));
        return next !== undefined && next !== node;
      });
      servers.restart(node);
      await servers.untilHealthy(node);
    });
    console.log(`stream leader killed: the longest commit took ${gapMs.toFixed(0)} ms`);
    expect(gapMs).toBeLessThan(GAP_MS_MAX);
    await expectSameHistory(store);
  }, 90_000);

  it('the stream leader is frozen and wakes up again', async () => {
    const { gapMs, store } = await commitThrough(2n, async () => {
      const node = await leader();
      servers.freeze(node);
      await waitUntil('another leads', async () => {
        const next = await servers.streamLeader(logStream(identity));
        return next !== undefined && next !== node;
      });
      servers.thaw(node);
      await servers.untilHealthy(node);
    });
    console.log(`stream leader frozen: the longest commit took ${gapMs.toFixed(0)} ms`);
    expect(gapMs).toBeLessThan(GAP_MS_MAX);
    await expectSameHistory(store);
  }, 90_000);

  it('a follower misses nothing when the server that it is connected to is killed', async () => {
    const dependencies = { clock: systemClock, scheduler: systemScheduler };
    const ended: unknown[] = [];
    const followed = new ReplicaStore();
    const stop = new AbortController();
    const { store } = await commitThrough(3n, async () => {
      await using other = await Nats.connect({ servers: servers.urls, name: 'f' }, dependencies);
      const log = await other.openLog({ identity, replicas: 3, checksum: hashes.xxh3 });
      const { apply } = followed;
      const following = log
        .follow({ from: LOG_START, apply, stopAtEnd: false, signal: stop.signal })
        .then((outcome) => ended.push(outcome), ignore);
      for (let kill = 0; kill < 2; kill += 1) {
        const before = followed.records.length;
        await waitUntil('it follows', () => followed.records.length > before + 20, 60_000);
        const node = servers.urls.findIndex((url) => url.endsWith(other.connection.getServer()));
        await servers.kill(node);
        servers.restart(node);
        await servers.untilHealthy(node);
      }
      expect(ended).toEqual([]);
      const read = followed.records.length;
      await waitUntil('it follows', () => followed.records.length > read + 20, 60_000);
      stop.abort(new Error('enough'));
      await following;
    });
    const chains = followed.records.map(({ chain }) => chain);
    expect(chains).toEqual(store.records.slice(0, chains.length).map(({ chain }) => chain));
  }, 120_000);

  it('all servers are killed and come back', async () => {
    const { gapMs, store } = await commitThrough(4n, async () => {
      for (const node of [0, 1, 2]) await servers.kill(node);
      for (const node of [0, 1, 2]) servers.restart(node);
      for (const node of [0, 1, 2]) await servers.untilHealthy(node);
    });
    console.log(`all servers killed: the longest commit took ${gapMs.toFixed(0)} ms`);
    expect(gapMs).toBeLessThan(2 * GAP_MS_MAX);
    await expectSameHistory(store);
  }, 90_000);
});

describeWithNats('with a nats-server whose disk is full', () => {
  it('a commit waits, the partition is not ready, and it goes on when the log was trimmed', async () => {
    const { xxh3: checksum } = await loadHashes();
    await using servers = await NatsServers.start({
      nodeCount: 1,
      jetstream: '  max_file_store: 20MB',
    });
    const dependencies = { clock: systemClock, scheduler: systemScheduler };
    await using nats = await Nats.connect({ servers: servers.urls, name: 'full' }, dependencies);
    const identity = { cluster: 'full', partition: toPartitionId(1), incarnation: 1n };
    const log = await nats.openLog({ identity, replicas: 1, checksum });
    const store = new ReplicaStore();
    const health: string[] = [];
    const candidate = { epoch: 1n, node: 'x', from: LOG_START, apply: store.apply };
    const { signal } = new AbortController();
    const onHealth = ({ kind }: LogHealth) => void health.push(kind);
    const led = requireLeading(await log.takeOver({ ...candidate, onHealth, signal }));
    const writer = new RecordWriter(led.position, checksum);
    const commits = (async () => {
      for (let key = 0; key < 30; key += 1) {
        const mutations = new MutationWriter();
        mutations.put(Uint8Array.of(1, key), new Uint8Array(900_000));
        await led.commit(writer.next(mutations.finish()));
      }
    })();
    await waitUntil('the disk is full', () => health.length > 0);
    expect(store.records.length).toBeGreaterThan(10);
    await log.trim(led.position.sequence - 5n);
    await commits;
    expect(health).toEqual(['refused', 'ok']);
    expect(led.position.sequence).toBe(31n);
    led.resign();
  }, 60_000);
});

function ignore(): void {
  // It was told to stop.
}
