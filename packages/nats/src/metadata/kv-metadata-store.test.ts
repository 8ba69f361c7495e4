import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NatsServers, waitUntil } from '@engine-test/support';
import type { MetadataEntry } from '@engine/metadata';
import { leaseContract, metadataStoreContract } from '@engine/metadata/contract';
import { systemClock, systemScheduler } from '@engine/runtime';

import { describeWithNats } from '../../contract/describe-with-nats.js';
import type { ReplicaCount } from '../log/stream-config.js';
import { Nats } from '../nats.js';
import { metadataBucket } from '../subjects.js';

const dependencies = { clock: systemClock, scheduler: systemScheduler };

describeWithNats.each([1, 3] as const)('on %i nats-server(s)', (nodeCount: ReplicaCount) => {
  let servers: NatsServers;
  let clusters = 0;

  beforeAll(async () => {
    servers = await NatsServers.start({ nodeCount });
  }, 60_000);

  afterAll(() => servers[Symbol.asyncDispose]());

  const makeHarness = async () => {
    const opened: Nats[] = [];
    const cluster = `test ${String((clusters += 1))}`;
    const open = async () => {
      const nats = await Nats.connect({ servers: servers.urls, name: 'test' }, dependencies);
      opened.push(nats);
      return nats.openMetadata({ cluster, replicas: nodeCount });
    };
    return {
      store: await open(),
      reopen: open,
      another: open,
      dispose: async () => {
        await Promise.all(opened.map((nats) => nats[Symbol.asyncDispose]()));
      },
    };
  };

  metadataStoreContract(`KvMetadataStore R${String(nodeCount)}`, makeHarness);
  leaseContract(`KvMetadataStore R${String(nodeCount)}`, makeHarness);

  it('a watch tells what changed while the server that leads was down', async () => {
    const harness = await makeHarness();
    const seen: MetadataEntry[] = [];
    const watch = harness.store.watch('a', (entry) => seen.push(entry));
    let version = await harness.store.put('a', Uint8Array.of(0), 'absent');
    await waitUntil('the first entry is told', () => seen.length > 0);
    const stream = `KV_${metadataBucket(`test ${String(clusters)}`)}`;
    const leader =
      nodeCount === 1 ? 0 : await waitUntil('a leader', () => servers.streamLeader(stream));
    await servers.kill(leader);
    if (nodeCount === 1) servers.restart(leader);
    for (let value = 1; value <= 3; value += 1) {
      version = await waitUntil('a put is taken', () =>
        harness.store.put('a', Uint8Array.of(value), version).catch(async () => {
          // The outcome is unknown: read.
          const entry = await harness.store.get('a').catch(() => undefined);
          return entry?.value[0] === value ? entry.version : undefined;
        }),
      );
    }
    await waitUntil('the last entry is told', () => seen.at(-1)?.version === version);
    const versions = seen.map((entry) => entry.version);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => Number(a - b)));
    watch[Symbol.dispose]();
    await harness.dispose();
    if (nodeCount === 3) servers.restart(leader);
    await servers.untilHealthy(leader);
  }, 60_000);
});
