import { describe, expect, it } from '@jest/globals';
import { CLUSTER_DOCUMENT, encodeCluster } from '@engine/metadata';

import { MemberBench, tableOf, TTL_MS } from '../contract/member-bench.js';

const CLUSTER = { id: 'c-1', name: 'c', partitionCount: 2, replicas: 1 } as const;

describe('a node that joins', () => {
  it('writes its document and holds its lease', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1', { zone: 'a' });
    expect(await bench.document('w1')).toMatchObject({
      id: 'w1',
      incarnation: 1,
      zone: 'a',
      addresses: { internal: 'w1:5122' },
      isLeaving: false,
    });
    expect(node.told).toEqual(['held']);
    expect(await bench.lease('w1')).toMatchObject({ holder: 'w1/1', ttlMs: TTL_MS, isGone: false });
    await bench.time.pass(60_000);
    expect(node.told).toEqual(['held']);
    expect((await bench.lease('w1')).renewals).toBeGreaterThanOrEqual(58);
  });

  it('knows the table before it holds its lease', async () => {
    const bench = new MemberBench();
    await bench.writeTable(tableOf(7, ['w1', 'w1']));
    const node = await bench.start('w1');
    expect(node.view.table?.version).toBe(7);
    expect(node.told).toEqual(['table 7', 'held']);
  });

  it('waits for a store that is away, and gives up after a minute', async () => {
    const bench = new MemberBench();
    const node = bench.make('w1');
    await node.view.start();
    node.store.fault = 'refusing';
    const started = node.member.start();
    await bench.time.pass(20_000);
    node.store.heal();
    await bench.time.until(started);
    expect(node.told).toEqual(['held']);

    const late = bench.make('w2');
    await late.view.start();
    late.store.fault = 'refusing';
    await expect(bench.time.until(late.member.start())).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('is another life after a restart, and takes its lease over from a life that was killed', async () => {
    const bench = new MemberBench();
    const first = await bench.start('w1');
    first.store.fault = 'hanging'; // It is dead to the world.
    const second = await bench.start('w1');
    expect(second.member.incarnation).toBe(2);
    expect(second.told).toEqual(['held']);
    expect((await bench.lease('w1')).holder).toBe('w1/2');
  });

  it('ends an earlier process of its name', async () => {
    const bench = new MemberBench();
    const first = await bench.start('w1');
    const second = await bench.start('w1');
    await bench.time.pass(30_000);
    expect(first.told).toEqual(['held', 'lost']);
    expect(first.fatal).toEqual([expect.objectContaining({ code: 'RT0005' })]);
    expect(second.told).toEqual(['held']);
  });

  it('refuses to start where it cannot read what is written, and leaves no document', async () => {
    const bench = new MemberBench();
    const cluster = encodeCluster({ ...CLUSTER, formatVersion: 2 });
    await bench.store.put(CLUSTER_DOCUMENT, cluster, 'absent');
    const node = bench.make('w1');
    await expect(bench.time.until(node.start())).rejects.toMatchObject({ code: 'META0010' });
    await expect(bench.document('w1')).rejects.toThrow('not registered');
  });

  it('has to end when the format in force is raised beyond it', async () => {
    const bench = new MemberBench();
    const version = await bench.store.put(
      CLUSTER_DOCUMENT,
      encodeCluster({ ...CLUSTER, formatVersion: 1 }),
      'absent',
    );
    const node = await bench.start('w1');
    const raised = encodeCluster({ ...CLUSTER, formatVersion: 2 });
    await bench.store.put(CLUSTER_DOCUMENT, raised, version);
    await bench.time.pass(10);
    expect(node.fatal).toEqual([expect.objectContaining({ code: 'META0010' })]);
  });
});

describe('the lease over outages', () => {
  it.each(['refusing', 'hanging', 'lost-answers'] as const)(
    'LSE-5 stays held over eight seconds of a store that is %s',
    async (fault) => {
      const bench = new MemberBench();
      const node = await bench.start('w1');
      await bench.time.pass(3_990);
      node.store.fault = fault;
      await bench.time.pass(8_000);
      node.store.heal();
      await bench.time.pass(30_000);
      expect(node.told).toEqual(['held']);
    },
  );

  it.each(['refusing', 'hanging', 'lost-answers'] as const)(
    'LSE-5 lapses in a longer one, and comes back: %s',
    async (fault) => {
      const bench = new MemberBench();
      const node = await bench.start('w1');
      node.store.fault = fault;
      await bench.time.pass(11_500);
      expect(node.told).toEqual(['held', 'lapsed']);
      node.store.heal();
      await bench.time.pass(1_000);
      expect(node.told).toEqual(['held', 'lapsed', 'held']);
    },
  );

  it('tells of each write whether it was acknowledged', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    const accesses: boolean[] = [];
    node.member.onAccess((isGood) => accesses.push(isGood));
    await bench.time.pass(1_500);
    node.store.fault = 'refusing';
    await bench.time.pass(1_000);
    expect(accesses[0]).toBe(true);
    expect(accesses.at(-1)).toBe(false);
  });

  it('a process that stood still learns it from its clock before anything else', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    bench.time.standStill(10_500);
    expect(node.member.leaseState).toBe('lapsed');
    expect(node.told).toEqual(['held']);
    node.member.check();
    expect(node.told).toEqual(['held', 'lapsed']);
    await bench.time.pass(500);
    expect(node.told).toEqual(['held', 'lapsed', 'held']);
  });
});

describe('LSE-6 a node that was buried', () => {
  it('gives up everything, reads the newest table, and only then holds its lease again', async () => {
    const bench = new MemberBench();
    await bench.writeTable(tableOf(1, ['w1', 'w1']));
    const node = await bench.start('w1');
    node.store.fault = 'refusing';
    await bench.time.pass(11_000);
    await bench.bury('w1');
    await bench.writeTable(tableOf(2, ['w2', 'w2']));
    node.store.fault = 'none'; // Watches are late: the table comes by reading.
    await bench.time.pass(5_000);
    expect(node.told).toEqual(['table 1', 'held', 'lapsed', 'lost', 'table 2', 'held']);
    expect((await bench.document('w1')).incarnation).toBe(1);
  });

  it('does not hold it while the table cannot be read', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    await bench.bury('w1');
    const readTable = node.view.readTable.bind(node.view);
    node.view.readTable = () => Promise.reject(new Error('not now'));
    await bench.time.pass(5_000);
    expect(node.told).toEqual(['held', 'lost']);
    expect((await bench.lease('w1')).isGone).toBe(false);
    node.view.readTable = readTable;
    await bench.time.pass(1_000);
    expect(node.told).toEqual(['held', 'lost', 'held']);
  });
});

describe('a node that leaves', () => {
  it('waits until it leads nothing, and says goodbye', async () => {
    const bench = new MemberBench();
    await bench.writeTable(tableOf(1, ['w1', 'w2']));
    const node = await bench.start('w1');
    await bench.start('w2');
    node.hasLetGo = false;
    const left = node.member.leave({ limitMs: 60_000 });
    await bench.time.pass(3_000);
    expect(await bench.document('w1')).toMatchObject({ isLeaving: true, incarnation: 1 });
    await bench.writeTable(tableOf(2, ['w2', 'w2']));
    await bench.time.pass(1_000);
    node.hasLetGo = true;
    expect(await bench.time.until(left)).toBe('handed-over');
    expect((await bench.lease('w1')).isGone).toBe(false);
    await bench.time.until(node.dispose());
    expect(node.told).toEqual(['table 1', 'held', 'table 2', 'lost']);
    expect((await bench.lease('w1')).isGone).toBe(true);
    const again = await bench.start('w1');
    expect(await bench.document('w1')).toMatchObject({ isLeaving: false, incarnation: 2 });
    expect(again.told).toEqual(['table 2', 'held']);
  });

  it('waits no longer than it may', async () => {
    const bench = new MemberBench();
    await bench.writeTable(tableOf(1, ['w1', 'w1']));
    const node = await bench.start('w1');
    await bench.start('w2');
    expect(await bench.time.until(node.member.leave({ limitMs: 5_000 }))).toBe('limit');
  });

  it('does not wait when nobody is there to take over', async () => {
    const bench = new MemberBench();
    await bench.writeTable(tableOf(1, ['w1', 'w2']));
    const node = await bench.start('w1');
    const other = await bench.start('w2');
    await bench.start('admin', { roles: ['admin'] });
    const left = node.member.leave({ limitMs: 60_000 });
    await bench.time.pass(3_000);
    void other.member.leave({ limitMs: 60_000 });
    expect(await bench.time.until(left, 3_000)).toBe('alone');
  });

  it('says no goodbye while something runs that a successor might run, too', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    node.hasLetGo = false;
    await bench.time.until(node.dispose());
    expect(node.told).toEqual(['held', 'lost']);
    expect((await bench.lease('w1')).isGone).toBe(false);
  });

  it('renews nothing after it has ended', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    await bench.time.until(node.dispose());
    const { version } = await bench.lease('w1');
    await bench.time.pass(20_000);
    expect((await bench.lease('w1')).version).toBe(version);
  });
});
