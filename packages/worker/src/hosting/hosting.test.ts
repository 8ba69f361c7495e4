/** Partitions that come and go: several workers of one cluster over one log, on virtual time. */

import { describe, expect, it } from '@jest/globals';
import { EngineError, toPartitionId } from '@engine/domain';

import { HostingWorld } from '../testing/hosting-world.js';
import { copyOf } from '../testing/memory-replicas.js';
import { Asked } from '../testing/request-maker.js';
import { schemaOf, service } from '../testing/test-worker.js';

const schema = schemaOf(service('Greeter', 'service', ['greet', 'wait']));
const P0 = toPartitionId(0);

async function start(...nodes: readonly string[]): Promise<HostingWorld> {
  const world = await HostingWorld.start({ schema, nodes });
  world.deployment.on('Greeter/greet', (stream) => {
    stream.finish('hello');
  });
  // Answers when the test says so.
  world.deployment.on('Greeter/wait', () => undefined);
  return world;
}

async function led(...nodes: readonly string[]): Promise<HostingWorld> {
  const world = await start(...nodes);
  const [leader = '', ...standbys] = nodes;
  world.name(0, { leader, standbys });
  await world.time.pass(1_000);
  return world;
}

describe('hosting', () => {
  it('leads what the table names, and answers what waited for it', async () => {
    const world = await start('a');
    const asked = world.invoke('Greeter/greet');
    await world.time.pass(1_000);
    expect(asked.text).toBeUndefined();
    expect(world.node('a').hosting.leadsNothing).toBe(true);
    world.name(0, { leader: 'a' });
    await world.time.pass(1_000);
    expect(asked.text).toBe('hello');
    expect(world.node('a').hosting.leadsNothing).toBe(false);
  });

  it('takes over after a crash with what the standby has followed', async () => {
    const world = await led('a', 'b');
    const first = world.invoke('Greeter/wait', '', 'submission');
    await world.time.pass(100);
    expect(first.text).toBe('submitted');
    const report = (await world.node('b').hosting.reports()).get(P0);
    expect(report).toMatchObject({ phase: 'follower', isCaughtUp: true, isStuck: false });
    expect(report?.applied).toBe((await world.node('a').hosting.applied(P0))?.sequence);
    world.node('a').kill();
    const second = world.invoke('Greeter/greet');
    world.deployment.on('Greeter/wait', (stream) => {
      stream.finish('done');
    });
    world.name(0, { leader: 'b', standbys: ['a'] });
    await world.time.pass(1_000);
    expect(second.text).toBe('hello');
    expect(world.node('b').streams.length).toBe(2);
    const { invocationId } = first;
    const attached = world.send((requestId) => {
      return { kind: 'attach', requestId, invocationId, blocking: true };
    });
    await world.time.pass(100);
    expect(attached.text).toBe('done');
    expect(world.node('b').disk).toMatchObject({ openings: 1, restores: 0 });
  });

  it('hands over: the attempts of the leader before are over when those of the next begin', async () => {
    const world = await led('a', 'b');
    const asked = world.invoke('Greeter/wait');
    await world.time.pass(100);
    const [old] = world.node('a').streams;
    expect(old?.isReset).toBe(false);
    world.deployment.on('Greeter/wait', (stream) => {
      expect(old?.isReset).toBe(true);
      stream.finish('from b');
    });
    world.name(0, { leader: 'b', standbys: ['a'], predecessors: ['a'] });
    await world.time.pass(1_000);
    expect(asked.text).toBe('from b');
    expect(world.node('a').hosting.leadsNothing).toBe(true);
    expect(world.node('a').fatal).toEqual([]);
    const report = (await world.node('a').hosting.reports()).get(P0);
    expect(report).toMatchObject({ phase: 'follower', isCaughtUp: true });
  });

  it('a predecessor that cannot hear is waited for until its time is over, and is fenced then', async () => {
    const world = await led('a', 'b');
    world.node('a').cut();
    world.name(0, { leader: 'b', predecessors: ['a'] });
    const asked = world.invoke('Greeter/greet');
    await world.time.pass(14_000);
    expect(asked.text).toBeUndefined();
    await world.time.pass(3_000);
    expect(asked.text).toBe('hello');
  });

  it('a node that was asked to stop does not lead in an earlier epoch that it hears of later', async () => {
    const world = await start('a', 'b');
    world.node('a').cut();
    world.name(0, { leader: 'a' });
    await world.node('a').hosting.stopLeading(P0, 2n);
    world.node('a').heal();
    await world.time.pass(5_000);
    const report = (await world.node('a').hosting.reports()).get(P0);
    expect(report).toMatchObject({ phase: 'follower', epoch: 1n, logEpoch: 1n });
    expect(world.histories[0]?.records).toEqual([]);
  });

  it('a standby whose place was trimmed away is restored, and follows', async () => {
    const world = await led('a', 'b');
    world.node('b').kill();
    for (let count = 0; count < 5; count += 1) world.invoke('Greeter/greet');
    await world.time.pass(1_000);
    await world.snapshot('a', 0);
    const last = (await world.node('a').hosting.applied(P0))?.sequence ?? 0n;
    await world.log(P0).trim(last);
    await world.node('b').restart();
    await world.time.pass(2_000);
    expect(world.node('b').disk.restores).toBe(1);
    const report = (await world.node('b').hosting.reports()).get(P0);
    expect(report).toMatchObject({ phase: 'follower', isCaughtUp: true, applied: last });
    world.node('a').kill();
    world.name(0, { leader: 'b' });
    const asked = world.invoke('Greeter/greet');
    await world.time.pass(1_000);
    expect(asked.text).toBe('hello');
  });

  it('starts again from its store when a record cannot be written, and goes on in the next epoch', async () => {
    const world = await led('a');
    world.node('a').disk.applyFailures.push(new Error('disk gone'));
    const asked = world.invoke('Greeter/greet');
    await world.time.pass(1_000);
    expect(asked.text).toBeUndefined();
    expect((await world.node('a').hosting.reports()).get(P0)).toMatchObject({
      phase: 'follower',
      isCaughtUp: true,
      logEpoch: 1n,
    });
    world.name(0, { leader: 'a' });
    await world.time.pass(1_000);
    expect(asked.text).toBe('hello');
    expect(world.deployment.streams).toHaveLength(1);
    expect(world.node('a').fatal).toEqual([]);
  });

  it('a follower whose store fails opens it again', async () => {
    const world = await led('a', 'b');
    world.node('b').disk.applyFailures.push(new Error('disk gone'));
    world.invoke('Greeter/greet');
    await world.time.pass(2_000);
    expect(world.node('b').disk.openings).toBe(2);
    expect(await world.node('b').hosting.applied(P0)).toEqual(
      await world.node('a').hosting.applied(P0),
    );
  });

  it('a leader steps down at once when what it applied cannot be written, and reads it again', async () => {
    const world = await led('a', 'b');
    const { disk, hosting } = world.node('a');
    const kept = await copyOf(disk.stored(P0));
    const asked = world.invoke('Greeter/wait');
    await world.time.pass(100);
    const [attempt] = world.node('a').streams;
    const applied = await hosting.applied(P0);
    expect(applied?.sequence).toBeGreaterThan(kept.position.sequence);
    expect(attempt?.isReset).toBe(false);
    disk.failWrites(P0, kept);
    expect(attempt?.isReset).toBe(true);
    expect(hosting.leadsNothing).toBe(true);
    await world.time.pass(1_000);
    expect(disk.openings).toBe(2);
    expect((await hosting.reports()).get(P0)).toMatchObject({ phase: 'follower', logEpoch: 1n });
    expect(await hosting.applied(P0)).toEqual(applied);
    world.deployment.on('Greeter/wait', (stream) => {
      stream.finish('done');
    });
    world.name(0, { leader: 'a', standbys: ['b'] });
    await world.time.pass(1_000);
    expect(asked.text).toBe('done');
    expect(world.node('a').fatal).toEqual([]);
  });

  it('a standby opens its store again at once when what it applied cannot be written, and can lead then', async () => {
    const world = await led('a', 'b');
    const { disk, hosting } = world.node('b');
    const kept = await copyOf(disk.stored(P0));
    const asked = world.invoke('Greeter/wait');
    await world.time.pass(100);
    const applied = await hosting.applied(P0);
    const { listeners } = disk.stored(P0);
    disk.failWrites(P0, kept);
    expect(await hosting.applied(P0)).toBeUndefined();
    await world.time.pass(1_000);
    expect(disk.openings).toBe(2);
    expect(listeners.size).toBe(0);
    expect((await hosting.reports()).get(P0)).toMatchObject({
      phase: 'follower',
      isCaughtUp: true,
    });
    expect(await hosting.applied(P0)).toEqual(applied);
    world.node('a').kill();
    world.deployment.on('Greeter/wait', (stream) => {
      stream.finish('from b');
    });
    world.name(0, { leader: 'b' });
    await world.time.pass(1_000);
    expect(asked.text).toBe('from b');
  });

  it('a store that fails while the node has no part in it is opened again with the next part', async () => {
    const world = await led('a', 'b');
    const { disk, hosting } = world.node('b');
    world.name(0, { leader: 'a' });
    await world.time.pass(1_000);
    disk.failWrites(P0, await copyOf(disk.stored(P0)));
    await world.time.pass(1_000);
    expect(disk.openings).toBe(1);
    world.name(0, { leader: 'a', standbys: ['b'] });
    await world.time.pass(1_000);
    world.invoke('Greeter/greet');
    await world.time.pass(1_000);
    expect(disk.openings).toBe(2);
    expect(await hosting.applied(P0)).toEqual(await world.node('a').hosting.applied(P0));
  });

  it('a disk that takes nothing any more is tried slower each time, though records can be applied', async () => {
    const world = await led('a', 'b');
    const { disk, hosting } = world.node('b');
    const kept = await copyOf(disk.stored(P0));
    world.invoke('Greeter/greet');
    await world.time.pass(100);
    const applied = await hosting.applied(P0);
    disk.writeFailure = new Error('no space');
    for (let round = 0; round < 100; round += 1) {
      disk.failWrites(P0, await copyOf(kept));
      await world.time.pass(100);
    }
    // After 0, 250, 500, 1,000, 2,000 and 4,000 ms.
    expect(disk.openings).toBe(7);
    disk.writeFailure = undefined;
    await world.time.pass(10_000);
    expect(await hosting.applied(P0)).toEqual(applied);
    disk.failWrites(P0, await copyOf(kept));
    await world.time.pass(10);
    expect(disk.openings).toBe(9);
    expect(await hosting.applied(P0)).toEqual(applied);
  });

  it('tries again until log and store can be opened, restores what lost writes, and tells of a newer format', async () => {
    const world = await start('a', 'b', 'c');
    world.node('a').disk.openingFailures.push(new Error('busy'), new Error('busy'));
    world.node('b').disk.openingFailures.push(new EngineError('storage', 'lost writes'));
    world.node('c').disk.openingFailures.push(new EngineError('META0011', 'newer'));
    world.name(0, { leader: 'a', standbys: ['b', 'c'] });
    await world.time.pass(5_000);
    expect((await world.node('a').hosting.reports()).get(P0)?.phase).toBe('leader');
    expect(world.node('b').disk.restores).toBe(1);
    expect((await world.node('b').hosting.reports()).get(P0)?.isCaughtUp).toBe(true);
    expect((await world.node('c').hosting.reports()).get(P0)).toMatchObject({
      phase: 'quarantined',
      fault: 'format',
    });
  });

  it('nobody leads when a replica has what the log lost', async () => {
    const world = await led('a', 'b');
    world.node('b').kill();
    world.invoke('Greeter/greet', '', 'submission');
    await world.time.pass(1_000);
    world.node('a').kill();
    world.histories[0]?.records.pop();
    await world.node('a').restart();
    await world.node('b').restart();
    world.name(0, { leader: 'b', standbys: ['a'] });
    await world.time.pass(30_000);
    expect((await world.node('a').hosting.reports()).get(P0)).toMatchObject({
      phase: 'quarantined',
      fault: 'ahead',
    });
    expect((await world.node('b').hosting.reports()).get(P0)).toMatchObject({
      phase: 'quarantined',
      fault: 'tail-lost',
    });
  });

  it('times do not go back when the next leader is behind', async () => {
    const world = await start('a', 'b');
    const [a, b] = [world.node('a'), world.node('b')];
    a.time.offsetMs = 60_000;
    world.name(0, { leader: 'a', standbys: ['b'] });
    await world.time.pass(1_000);
    const { invocationId } = world.invoke('Greeter/wait', '', 'submission');
    await world.time.pass(1_000);
    a.kill();
    world.name(0, { leader: 'b' });
    await world.time.pass(1_000);
    world.send((requestId) => ({ kind: 'pause', requestId, invocationId }));
    await world.time.pass(1_000);
    const found = (async () => {
      for await (const { invocation } of b.worker.scan({ ids: [invocationId], limit: 1 })) {
        return invocation;
      }
      return undefined;
    })();
    await world.time.settle();
    const row = await found;
    expect(row?.status).toBe('paused');
    expect(row?.modifiedAt).toBeGreaterThanOrEqual(row?.createdAt ?? Infinity);
    expect(row?.modifiedAt).toBeGreaterThan(world.time.now() + 30_000);
  });

  it('leaves a partition that the table takes from it, and says so', async () => {
    const world = await led('a', 'b');
    world.name(0, { leader: 'b', predecessors: ['a'] });
    await world.time.pass(2_000);
    expect(world.node('a').hosting.leadsNothing).toBe(true);
    expect((await world.node('a').hosting.reports()).size).toBe(0);
    const asked = new Asked(world.invoke('Greeter/greet').request);
    world.node('a').worker.send(asked.request, (answer) => {
      asked.answers.push(answer);
    });
    await world.time.settle();
    expect(asked.answers).toEqual([{ kind: 'unavailable', reason: 'not-leader' }]);
  });
});
