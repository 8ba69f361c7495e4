import { beforeEach, describe, expect, it } from '@jest/globals';

import { ControlledCluster, type ControlledAdmin } from '../../contract/controlled-cluster.js';

let cluster: ControlledCluster;
let admin: ControlledAdmin;

beforeEach(async () => {
  cluster = await ControlledCluster.open();
  admin = await cluster.addAdmin('a1');
  for (const id of ['w1', 'w2', 'w3']) await cluster.addWorker(id);
  await cluster.time.pass(10_000);
});

function give<T>(order: Promise<T>): Promise<T> {
  return cluster.time.until(order);
}

describe('orders of operators', () => {
  it('CTL-10 a drained worker leads and follows nothing, until that is taken back', async () => {
    await give(admin.cluster.drain('w1'));
    await cluster.untilLed({ w1: 0, w2: 4, w3: 4 });
    await cluster.time.untilTrue('it follows nothing', () => {
      const node = admin.cluster.status().nodes.find(({ node: { id } }) => id === 'w1');
      return node?.followsCount === 0;
    });
    await cluster.time.pass(20_000);
    expect(cluster.leads('w1')).toBe(0);
    await give(admin.cluster.undrain('w1'));
    await cluster.time.untilTrue('its share', () => cluster.leads('w1') >= 2);
  });

  it('CTL-10 a pinned partition moves to its worker, and the others stay balanced', async () => {
    const [from] = (await cluster.table()).partitions;
    const to = from?.leader === 'w1' ? 'w2' : 'w1';
    expect(await give(admin.cluster.pin(0, to))).toMatchObject({
      pins: [{ partition: 0, node: to }],
    });
    const leader = () => admin.cluster.status().partitions[0]?.assignment.leader;
    await cluster.time.untilTrue('it moves', () => leader() === to);
    expect(admin.cluster.status().partitions[0]?.pinnedTo).toBe(to);
    expect(await give(admin.cluster.unpin(0))).toMatchObject({ pins: [] });
  });

  it('CTL-10 frozen moves nothing, not even away from the dead', async () => {
    await give(admin.cluster.setFrozen(true));
    cluster.workers.get('w1')?.kill();
    await cluster.time.pass(30_000);
    expect(cluster.leads('w1')).toBeGreaterThan(0);
    await give(admin.cluster.setFrozen(false));
    await cluster.untilLed({ w1: 0 }, 5_000);
  });

  it('are written by any admin', async () => {
    const second = await cluster.addAdmin('a2');
    await cluster.time.pass(3_000);
    expect(second.driver.isController).toBe(false);
    await give(second.cluster.drain('w1'));
    await cluster.untilLed({ w1: 0 });
  });

  it('of two operators at once both count', async () => {
    await give(Promise.all([admin.cluster.drain('w1'), admin.cluster.setFrozen(true)]));
    expect(await cluster.orders()).toMatchObject({ drained: ['w1'], isFrozen: true });
  });

  it('that are in force already change nothing', async () => {
    await give(admin.cluster.drain('w1'));
    const { puts } = admin.node.store;
    const written = puts.filter((name) => name === 'placement-orders').length;
    await give(admin.cluster.drain('w1'));
    expect(puts.filter((name) => name === 'placement-orders')).toHaveLength(written);
  });

  it.each([
    ['an unknown worker', () => admin.cluster.drain('w9'), 'not-found'],
    ['an admin', () => admin.cluster.drain('a1'), 'conflict'],
    ['an unknown partition', () => admin.cluster.pin(8, 'w1'), 'not-found'],
  ])('about %s are refused', async (_what, order, code) => {
    await expect(Promise.resolve().then(order)).rejects.toMatchObject({ code });
  });

  it('to move a partition to a worker that is drained or dead are refused', async () => {
    await give(admin.cluster.drain('w1'));
    await expect(give(admin.cluster.pin(0, 'w1'))).rejects.toMatchObject({ code: 'conflict' });
    cluster.workers.get('w2')?.kill();
    await cluster.time.pass(5_000);
    await expect(Promise.resolve().then(() => admin.cluster.pin(0, 'w2'))).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('fail when the store cannot be reached', async () => {
    admin.node.store.fault = 'refusing';
    await expect(give(admin.cluster.setFrozen(true))).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('what operators are shown', () => {
  it('nodes, partitions with what each replica said, and who decides', async () => {
    const status = admin.cluster.status();
    expect(status).toMatchObject({ name: 'c', isCluster: true, controller: 'a1', alarms: [] });
    expect(status.nodes.map(({ node, liveness }) => [node.id, liveness])).toEqual([
      ['a1', 'alive'],
      ['w1', 'alive'],
      ['w2', 'alive'],
      ['w3', 'alive'],
    ]);
    const [partition] = status.partitions;
    expect(partition?.replicas.map(({ node }) => node)).toEqual([
      partition?.assignment.leader,
      ...(partition?.assignment.standbys ?? []),
    ]);
    expect(partition?.replicas.map(({ report, lag }) => [report.phase, lag])).toEqual([
      ['leader', 0n],
      ['follower', 2n],
    ]);
  });

  it('the same by an admin that is not the controller', async () => {
    const second = await cluster.addAdmin('a2');
    await cluster.time.pass(3_000);
    expect(second.driver.isController).toBe(false);
    expect(second.cluster.status()).toEqual({ ...admin.cluster.status(), self: 'a2' });
  });

  it('what was counted dead, and nothing that it said before', async () => {
    cluster.workers.get('w1')?.kill();
    await cluster.time.pass(6_000);
    const { nodes, partitions } = admin.cluster.status();
    expect(nodes.find(({ node }) => node.id === 'w1')?.liveness).toBe('gone');
    expect(partitions.some(({ replicas }) => replicas.some(({ node }) => node === 'w1'))).toBe(
      false,
    );
  });

  it.each([
    [{ fault: 'tail-lost' }, 'tail-lost'],
    [{ phase: 'quarantined', fault: 'other-branch' }, 'quarantined'],
    [{ isStuck: true }, 'stuck'],
  ] as const)('an alarm for %j', async (report, kind) => {
    const leader = (await cluster.table()).partitions[3]?.leader ?? '';
    cluster.workers.get(leader)?.scripted.set(3, report);
    const alarms = () => admin.cluster.status().alarms;
    await cluster.time.untilTrue('an alarm', () => alarms().length > 0, 2_000);
    expect(alarms()).toEqual([expect.objectContaining({ kind, partition: 3, nodes: [leader] })]);
  });
});
