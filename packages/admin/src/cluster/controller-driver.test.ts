import { beforeEach, describe, expect, it } from '@jest/globals';
import { CLUSTER_DOCUMENT, decodeCluster, encodeCluster } from '@engine/metadata';

import { ControlledCluster } from '../../contract/controlled-cluster.js';

let cluster: ControlledCluster;

beforeEach(async () => {
  cluster = await ControlledCluster.open();
});

async function threeWorkers(): Promise<void> {
  for (const id of ['w1', 'w2', 'w3']) await cluster.addWorker(id);
}

function worker(id: string) {
  const found = cluster.workers.get(id);
  if (found === undefined) throw new Error(`no worker ${id}`);
  return found;
}

describe('the driver of the controller', () => {
  it('writes the first table for those that started together', async () => {
    const admin = await cluster.addAdmin('a1');
    await threeWorkers();
    await cluster.time.untilTrue('a table', () => worker('w1').node.view.table !== undefined);
    const { partitions } = await cluster.table();
    expect(partitions).toHaveLength(8);
    expect(['w1', 'w2', 'w3'].map((id) => cluster.leads(id)).sort()).toEqual([2, 3, 3]);
    expect(partitions.every(({ standbys }) => standbys.length === 1)).toBe(true);
    expect(admin.driver.isController).toBe(true);
  });

  it('replaces a worker whose port refuses in about three seconds', async () => {
    await cluster.addAdmin('a1');
    await threeWorkers();
    await cluster.time.pass(10_000);
    worker('w1').kill();
    const killedAt = cluster.time.monotonic();
    await cluster.untilLed({ w1: 0, w2: 4, w3: 4 });
    expect(cluster.time.monotonic() - killedAt).toBeLessThan(4_000);
    expect(await cluster.bench.lease('w1')).toMatchObject({ holder: 'w1/1', isGone: true });
  });

  it('replaces one that is cut off only after its whole lease time', async () => {
    await cluster.addAdmin('a1');
    await threeWorkers();
    await cluster.time.pass(10_000);
    worker('w1').freeze();
    const frozenAt = cluster.time.monotonic();
    await cluster.untilLed({ w1: 0, w2: 4, w3: 4 });
    const ms = cluster.time.monotonic() - frozenAt;
    expect(ms).toBeGreaterThan(14_000);
    expect(ms).toBeLessThan(17_000);
  });

  it('replaces one that says goodbye at once, and gives it its share when it is back', async () => {
    await cluster.addAdmin('a1');
    await threeWorkers();
    await cluster.time.pass(10_000);
    const gone = worker('w1');
    await cluster.time.until(gone.node.dispose());
    gone.isDead = true;
    gone.probe = 'refused';
    await cluster.untilLed({ w1: 0, w2: 4, w3: 4 }, 1_500);
    await cluster.addWorker('w1');
    await cluster.time.untilTrue('its share', () => cluster.leads('w1') >= 2);
  });

  it('moves nothing while the store is away, and nobody is dead afterwards', async () => {
    const admin = await cluster.addAdmin('a1');
    await threeWorkers();
    await cluster.time.pass(10_000);
    const { version } = await cluster.table();
    const nodes = [admin.node, ...[...cluster.workers.values()].map(({ node }) => node)];
    for (const { store } of nodes) store.fault = 'refusing';
    await cluster.time.pass(30_000);
    for (const { store } of nodes) store.heal();
    await cluster.time.pass(30_000);
    expect((await cluster.table()).version).toBe(version);
    expect(worker('w1').node.told.at(-1)).toBe('held');
  });

  it('holds back with an alarm when most workers fall silent at once', async () => {
    const { cluster: operations } = await cluster.addAdmin('a1');
    await threeWorkers();
    await cluster.time.pass(10_000);
    worker('w1').freeze();
    worker('w2').freeze();
    await cluster.time.pass(17_000);
    expect(cluster.leads('w3')).toBeLessThan(8);
    expect(operations.status().alarms).toEqual([
      expect.objectContaining({ kind: 'workers-silent', nodes: ['w1', 'w2'] }),
    ]);
    await cluster.untilLed({ w3: 8 }, 20_000);
    expect(operations.status().alarms).toEqual([]);
  });

  it('is one of several: when its process is killed another takes over, when it ends at once', async () => {
    const first = await cluster.addAdmin('a1');
    await threeWorkers();
    await cluster.time.pass(5_000);
    const second = await cluster.addAdmin('a2');
    await cluster.time.pass(5_000);
    expect([first.driver.isController, second.driver.isController]).toEqual([true, false]);
    expect(second.driver.controller).toBe('a1');

    await cluster.time.until(first.driver[Symbol.asyncDispose]());
    await cluster.time.untilTrue('a2 decides', () => second.driver.isController, 1_500);
    const third = await cluster.addAdmin('a3');
    second.node.store.fault = 'hanging';
    await cluster.time.untilTrue('a3 decides', () => third.driver.isController, 25_000);
    expect(second.driver.isController).toBe(false);
    worker('w1').kill();
    await cluster.untilLed({ w1: 0, w2: 4, w3: 4 });
  });

  it.each(['lost-answers', 'refusing'] as const)(
    'goes on by what is in the store when its writes end as %s',
    async (fault) => {
      const { node, driver } = await cluster.addAdmin('a1');
      await threeWorkers();
      await cluster.time.pass(1_000);
      node.store.fault = fault;
      await cluster.time.pass(4_000);
      node.store.heal();
      await cluster.time.untilTrue('it decides', () => driver.isController, 30_000);
      await cluster.time.untilTrue('a table', () => cluster.leads('w1') >= 2);
      worker('w1').kill();
      await cluster.untilLed({ w1: 0, w2: 4, w3: 4 });
    },
  );

  it('raises the format once every node reads a later one', async () => {
    const document = { id: 'c-1', name: 'c', partitionCount: 8, replicas: 1 } as const;
    const bytes = encodeCluster({ ...document, formatVersion: 1 });
    await cluster.bench.store.put(CLUSTER_DOCUMENT, bytes, 'absent');
    const formats = { min: 1, max: 2 };
    const inForce = async (): Promise<number> => {
      const entry = await cluster.bench.store.get(CLUSTER_DOCUMENT);
      return entry === undefined ? 0 : decodeCluster(entry.value).formatVersion;
    };
    const old = await cluster.bench.start('w1');
    await cluster.addAdmin('a1');
    await cluster.time.until(cluster.bench.start('a1', { roles: ['admin'], formats }));
    await cluster.time.pass(30_000);
    expect(await inForce()).toBe(1);
    await cluster.time.until(old.dispose());
    await cluster.bench.start('w1', { formats });
    await cluster.time.pass(30_000);
    expect(await inForce()).toBe(2);
  });
});
