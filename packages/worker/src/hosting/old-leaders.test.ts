/** Leaders that are none any more and do not know it: nothing leaves them (docs/design/leadership.md). */

import { describe, expect, it } from '@jest/globals';

import { HostingWorld } from '../testing/hosting-world.js';
import { Asked } from '../testing/request-maker.js';
import { error } from '../testing/sdk-frames.js';
import type { TestNode } from '../testing/test-node.js';
import { schemaOf, service } from '../testing/test-worker.js';

const schema = schemaOf(service('Greeter', 'service', ['greet', 'wait', 'fail']));

async function start(): Promise<HostingWorld> {
  const world = await HostingWorld.start({ schema, nodes: ['a', 'b'] });
  world.deployment.on('Greeter/greet', (stream) => {
    stream.finish('hello');
  });
  world.deployment.on('Greeter/wait', () => undefined);
  world.deployment.on('Greeter/fail', (stream) => {
    stream.send(error(500, 'not yet'));
  });
  world.name(0, { leader: 'a', standbys: ['b'] });
  await world.time.pass(1_000);
  return world;
}

/** Asks one node, whoever leads. */
function ask(node: TestNode, request: Asked['request']): Asked {
  const asked = new Asked(request);
  node.worker.send(request, (answer) => {
    asked.answers.push(answer);
  });
  return asked;
}

async function scanned(node: TestNode): Promise<string> {
  try {
    let count = 0;
    for await (const found of node.worker.scan({ limit: 10 })) if (found.id !== '') count += 1;
    return `${String(count)} rows`;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

describe('an old leader', () => {
  it('answers no reads, though nothing is decided for them', async () => {
    const world = await start();
    const done = world.invoke('Greeter/greet');
    await world.time.pass(1_000);
    const attach = {
      kind: 'attach',
      requestId: 'attach-1',
      invocationId: done.invocationId,
      blocking: false,
    } as const;
    const records = (): number => world.histories[0]?.records.length ?? 0;
    const before = records();
    const current = ask(world.node('a'), attach);
    await world.time.settle();
    expect(current.text).toBe('hello');
    // It rode on a record of its own.
    expect(records()).toBe(before + 1);

    world.node('a').cut();
    world.name(0, { leader: 'b' });
    await world.time.pass(1_000);
    expect(world.node('a').hosting.leadsNothing).toBe(false);
    const stale = ask(world.node('a'), { ...attach, requestId: 'attach-2' });
    await world.time.settle();
    expect(stale.answers).toEqual([{ kind: 'unavailable', reason: 'stopping' }]);
    expect(world.node('a').hosting.leadsNothing).toBe(true);
  });

  it('shows no rows', async () => {
    const world = await start();
    world.invoke('Greeter/wait', '', 'submission');
    await world.time.pass(1_000);
    const current = scanned(world.node('a'));
    await world.time.settle();
    expect(await current).toBe('1 rows');
    world.node('a').cut();
    world.name(0, { leader: 'b' });
    await world.time.pass(1_000);
    const stale = scanned(world.node('a'));
    await world.time.settle();
    expect(await stale).toBe('partition 0 is not led here');
  });

  it('releases nothing of a record that was refused', async () => {
    const world = await start();
    const waiting = world.invoke('Greeter/wait', '', 'submission');
    await world.time.pass(1_000);
    const [stream] = world.node('a').streams;
    world.node('a').cut();
    world.name(0, { leader: 'b' });
    await world.time.pass(1_000);
    const late = ask(world.node('a'), {
      kind: 'attach',
      requestId: 'late',
      invocationId: waiting.invocationId,
      blocking: true,
    });
    stream?.finish('too late');
    await world.time.settle();
    expect(late.answers).toEqual([{ kind: 'unavailable', reason: 'stopping' }]);
    expect(world.node('a').streams).toHaveLength(1);
  });

  it('that was frozen past its lease cannot call, answer or write', async () => {
    const world = await start();
    const failing = world.invoke('Greeter/fail');
    const waiting = world.invoke('Greeter/wait');
    await world.time.pass(10);
    const a = world.node('a');
    const calls = a.streams.length;
    a.time.freeze();
    // Its retry falls due, its handler answers, and others count it dead meanwhile.
    a.streams.find((stream) => stream.request.path === '/invoke/Greeter/wait')?.finish('frozen');
    world.deployment.on('Greeter/fail', (stream) => {
      stream.finish('at last');
    });
    world.deployment.on('Greeter/wait', (stream) => {
      stream.finish('from b');
    });
    await world.time.pass(20_000);
    a.isLeaseHeld = false;
    world.name(0, { leader: 'b' });
    await world.time.pass(5_000);
    expect([failing.text, waiting.text]).toEqual(['at last', 'from b']);
    const length = world.histories[0]?.records.length;
    const read = ask(a, {
      kind: 'attach',
      requestId: 'read',
      invocationId: failing.invocationId,
      blocking: true,
    });
    a.time.thaw();
    await world.time.pass(2_000);
    expect(read.answers).toEqual([{ kind: 'unavailable', reason: 'stopping' }]);
    expect(a.streams).toHaveLength(calls);
    expect(world.histories[0]?.records).toHaveLength(length ?? 0);
    expect(a.hosting.leadsNothing).toBe(true);
  });
});

describe('attempts and the lease', () => {
  it('are aborted and held while it lapses, and start again when it is held', async () => {
    const world = await start();
    const asked = world.invoke('Greeter/wait');
    await world.time.pass(100);
    const a = world.node('a');
    a.lease('lapsed');
    expect(a.streams[0]?.isReset).toBe(true);
    expect(a.worker.runningCount).toBe(0);
    const second = world.invoke('Greeter/greet', '', 'submission');
    await world.time.pass(1_000);
    expect(second.text).toBe('submitted');
    expect(a.streams).toHaveLength(1);
    world.deployment.on('Greeter/wait', (stream) => {
      stream.finish('done');
    });
    a.lease('held');
    await world.time.pass(100);
    expect(asked.text).toBe('done');
    expect(a.streams).toHaveLength(3);
    expect((await a.hosting.reports()).get(world.partition(0))?.phase).toBe('leader');
  });

  it('are not begun by a holder that finds its lease over before it was told', async () => {
    const world = await start();
    const a = world.node('a');
    a.isLeaseHeld = false;
    const asked = world.invoke('Greeter/greet');
    await world.time.pass(100);
    expect(a.streams).toHaveLength(0);
    a.isLeaseHeld = true;
    await world.time.pass(1_000);
    expect(asked.text).toBe('hello');
  });

  it('end with the leadership when it is lost', async () => {
    const world = await start();
    world.invoke('Greeter/wait');
    await world.time.pass(100);
    const a = world.node('a');
    a.lease('lost');
    expect(a.streams[0]?.isReset).toBe(true);
    expect(a.hosting.leadsNothing).toBe(true);
    a.lease('held');
    await world.time.pass(2_000);
    // Only a later epoch counts.
    expect((await a.hosting.reports()).get(world.partition(0))?.phase).toBe('follower');
    world.name(0, { leader: 'a' });
    await world.time.pass(1_000);
    expect((await a.hosting.reports()).get(world.partition(0))?.phase).toBe('leader');
    expect(a.streams).toHaveLength(2);
  });
});
