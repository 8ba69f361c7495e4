import { afterAll, beforeAll } from '@jest/globals';
import { NatsServers } from '@engine-test/support';
import { loadHashes, toPartitionId, type Hashes } from '@engine/domain';
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
