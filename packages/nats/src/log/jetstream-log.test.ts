import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NatsServers } from '@engine-test/support';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
import { LOG_START } from '@engine/log';
import { sharedLogContract } from '@engine/log/contract';
import { systemClock, systemScheduler } from '@engine/runtime';

import { describeWithNats } from '../../contract/describe-with-nats.js';
import { Nats } from '../nats.js';
import type { ReplicaCount } from './stream-config.js';

describeWithNats.each([1, 3] as const)('on %i nats-server(s)', (nodeCount: ReplicaCount) => {
  let servers: NatsServers;
  let hashes: Hashes;
  let partition = 0;

  beforeAll(async () => {
    hashes = await loadHashes();
    servers = await NatsServers.start({ nodeCount });
  }, 60_000);

  afterAll(() => servers[Symbol.asyncDispose]());

  it('ends a reader however early it is aborted', async () => {
    const identity = { cluster: 'test', partition: toPartitionId(0), incarnation: 1n };
    const dependencies = { clock: systemClock, scheduler: systemScheduler };
    await using nats = await Nats.connect({ servers: servers.urls, name: 'test' }, dependencies);
    const log = await nats.openLog({ identity, replicas: nodeCount, checksum: hashes.xxh3 });
    // Before, while and after the reader is made on the server.
    for (let abortAfterMs = 0; abortAfterMs <= 20; abortAfterMs += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      const request = { from: LOG_START, apply: () => undefined, stopAtEnd: false, signal };
      const ended = expect(log.follow(request)).rejects.toThrow('enough');
      await pause(abortAfterMs);
      controller.abort(new Error('enough'));
      await ended;
    }
  });

  sharedLogContract(`JetStream R${String(nodeCount)}`, async () => {
    const connections: Nats[] = [];
    const identity = {
      cluster: 'test',
      partition: toPartitionId((partition += 1)),
      incarnation: 1n,
    };
    const open = async () => {
      const dependencies = { clock: systemClock, scheduler: systemScheduler };
      const nats = await Nats.connect({ servers: servers.urls, name: 'test' }, dependencies);
      connections.push(nats);
      const { xxh3: checksum } = hashes;
      return nats.openLog({ identity, replicas: nodeCount, checksum, aheadConfirmMs: 300 });
    };
    return {
      checksum: hashes.xxh3,
      open,
      close: async () => {
        await Promise.all(connections.map((nats) => nats[Symbol.asyncDispose]()));
      },
    };
  });
});
