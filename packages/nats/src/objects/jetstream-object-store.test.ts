import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { NatsServers } from '@engine-test/support';
import { systemClock, systemScheduler } from '@engine/runtime';
import { objectStoreContract } from '@engine/snapshots/contract';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';

import { describeWithNats } from '../../contract/describe-with-nats.js';
import type { ReplicaCount } from '../log/stream-config.js';
import { Nats } from '../nats.js';
import { objectBucket, objectStream } from '../subjects.js';
import type { JetStreamObjectStore } from './jetstream-object-store.js';

const dependencies = { clock: systemClock, scheduler: systemScheduler };

describeWithNats.each([1, 3] as const)('on %i nats-server(s)', (nodeCount: ReplicaCount) => {
  let servers: NatsServers;
  let stores = 0;

  beforeAll(async () => {
    servers = await NatsServers.start({ nodeCount });
  }, 60_000);

  afterAll(() => servers[Symbol.asyncDispose]());

  objectStoreContract(`JetStream R${String(nodeCount)}`, () => {
    const connections: Nats[] = [];
    const cluster = `a cluster ${String((stores += 1))}`;
    const open = async () => {
      const nats = await Nats.connect({ servers: servers.urls, name: 'test' }, dependencies);
      connections.push(nats);
      return nats.openObjects({ cluster, replicas: nodeCount, sha256: 'js' });
    };
    return Promise.resolve({
      open,
      reopen: open,
      dispose: async () => {
        await Promise.all(connections.map((nats) => nats[Symbol.asyncDispose]()));
      },
    });
  });
});

describeWithNats('objects on three nats-servers', () => {
  it('put and get wait for a new leader when theirs is killed', async () => {
    await using servers = await NatsServers.start({ nodeCount: 3 });
    await using nats = await Nats.connect({ servers: servers.urls, name: 'test' }, dependencies);
    const store = await nats.openObjects({ cluster: 'c', replicas: 3, sha256: 'js' });
    await store.put('a', new Uint8Array(1_000_000).fill(1));
    const leader = await servers.streamLeader(objectStream(objectBucket('c')));
    await servers.kill(leader ?? 0);
    await store.put('b', new Uint8Array(1_000_000).fill(2));
    expect(await store.list('')).toEqual(['a', 'b']);
    expect(await store.get('a')).toEqual(new Uint8Array(1_000_000).fill(1));
    expect(await store.get('b')).toEqual(new Uint8Array(1_000_000).fill(2));
  }, 90_000);
});

describeWithNats('objects on a nats-server', () => {
  let servers: NatsServers;
  let nats: Nats;
  let manager: JetStreamManager;
  let store: JetStreamObjectStore;
  let stream: string;
  let clusters = 0;

  beforeAll(async () => {
    servers = await NatsServers.start({ nodeCount: 1, jetstream: '  max_file_store: 20MB' });
    nats = await Nats.connect({ servers: servers.urls, name: 'test' }, dependencies);
    manager = await jetstreamManager(nats.connection);
  }, 60_000);

  beforeEach(async () => {
    const cluster = `c${String((clusters += 1))}`;
    stream = objectStream(objectBucket(cluster));
    const impatient = { readSilenceMs: 200, retriesMax: 1 };
    store = await nats.openObjects({ cluster, replicas: 1, sha256: 'js', ...impatient });
  });

  afterAll(async () => {
    await nats[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  const code = (value: string) => expect.objectContaining({ code: value });

  it('leaves nothing behind of what was replaced and deleted', async () => {
    await store.put('a/b', new Uint8Array(1_000_000));
    await store.put('a/b', new Uint8Array(2_000_000));
    await store.put('a/c', new Uint8Array(10));
    await store.delete('a/b');
    await store.delete('a/c');
    expect((await manager.streams.info(stream)).state.messages).toBe(0);
  });

  it('says `storage` to an object that lost a piece or was changed', async () => {
    await store.put('lost', new Uint8Array(1_000_000));
    await manager.streams.deleteMessage(stream, 2);
    await expect(store.get('lost')).rejects.toThrow(code('storage'));
    await store.put('changed', new Uint8Array(1_000));
    const info = await manager.streams.info(stream, { subjects_filter: '$O.*.C.>' });
    const [pieces = ''] = Object.keys(info.state.subjects ?? {}).filter(
      (subject) => info.state.subjects?.[subject] === 1,
    );
    await manager.streams.purge(stream, { filter: pieces });
    nats.connection.publish(pieces, new Uint8Array(1_000).fill(1));
    await nats.connection.flush();
    await expect(store.get('changed')).rejects.toThrow(code('storage'));
  });

  it('says `storage` when the disk is full, and `unavailable` when nobody answers', async () => {
    const fill = async (): Promise<void> => {
      for (let at = 0; at < 10; at += 1) {
        await store.put(`full/${String(at)}`, new Uint8Array(4_000_000).fill(at));
      }
    };
    await expect(fill()).rejects.toThrow(code('storage'));
    await servers.kill(0);
    await expect(store.get('full/0')).rejects.toThrow(code('unavailable'));
    await expect(store.list('')).rejects.toThrow(code('unavailable'));
    servers.restart(0);
    await servers.untilHealthy(0);
    expect(await store.get('full/0')).toHaveLength(4_000_000);
  }, 60_000);

  it('refuses a bucket with fewer copies than asked for', async () => {
    const opening = nats.openObjects({ cluster: `c${String(clusters)}`, replicas: 3 });
    await expect(opening).rejects.toThrow(code('RT0002'));
  });
});
