import { describe, expect, it } from '@jest/globals';
import { limits } from '@engine/domain';
import { MESSAGE_TYPE } from '@engine/service-protocol';

import type { SdkStream } from './testing/scripted-deployment.js';
import {
  bytes,
  call,
  END,
  frame,
  output,
  proposeRun,
  run,
  setState,
} from './testing/sdk-frames.js';
import { schemaOf, schemaWithHints, service, TestWorld } from './testing/test-worker.js';

const schema = schemaOf(service('Greeter', 'service', ['greet', 'work', 'echo']));
const keyed = schemaOf(service('Counter', 'virtual-object', ['add']));
const LARGE = 'x'.repeat(200_000);

/** Keeps the attempt until the test lets it finish. */
class Gate {
  readonly #streams: SdkStream[] = [];

  readonly script = (stream: SdkStream): void => {
    if (!this.#streams.includes(stream)) this.#streams.push(stream);
  };

  open(index: number): void {
    this.#streams[index]?.finish('done');
  }

  get reached(): number {
    return this.#streams.length;
  }
}

async function awaiting(world: TestWorld, id: Parameters<TestWorld['row']>[0]) {
  return (await world.row(id))?.awaiting?.on;
}

describe('memory for payloads', () => {
  it('lets attempts wait until there is room for what they replay; small ones go on', async () => {
    const settings = { payloadMemoryBytesMax: 400_000 };
    const world = await TestWorld.start({ schema, settings });
    const gate = new Gate();
    world.deployment.on('Greeter/work', gate.script);
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    const asks = [1, 2, 3].map(() => world.invoke('Greeter/work', LARGE));
    const small = world.invoke('Greeter/greet', '');
    await world.time.settle();
    expect(gate.reached).toBe(1);
    expect(small.text).toBe('hello');
    const [, second, third] = asks;
    if (second === undefined || third === undefined) throw new Error();
    expect(await awaiting(world, second.invocationId)).toBe('memory for its payloads');
    world.operate('kill', second.invocationId);
    await world.time.settle();
    expect(gate.reached).toBe(1);
    gate.open(0);
    await world.time.pass(5_000);
    expect(gate.reached).toBe(2);
    gate.open(1);
    await world.time.settle();
    expect(asks.map((asked) => asked.text)).toEqual(['done', '409 killed', 'done']);
  });

  it('lets an attempt that is alone replay whatever it has', async () => {
    const settings = { payloadMemoryBytesMax: 100_000, perInvocationBytesMax: 1_000_000 };
    const world = await TestWorld.start({ schema, settings });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    const asked = world.invoke('Greeter/greet', LARGE);
    await world.time.settle();
    expect(asked.text).toBe('hello');
  });

  it.each([
    ['pause', 'paused'],
    ['kill', 'completed'],
  ] as const)('does not try an invocation again that is too large: %s', async (onMax, status) => {
    const options = { retryPolicy: { onMaxAttempts: onMax } };
    const strict = schemaOf({ ...service('Greeter', 'service', ['greet']), options });
    const settings = { perInvocationBytesMax: 100_000 };
    const world = await TestWorld.start({ schema: strict, settings });
    const asked = world.invoke('Greeter/greet', LARGE);
    await world.time.settle();
    const row = await world.row(asked.invocationId);
    expect(row?.invocation.status).toBe(status);
    expect(world.deployment.streams).toHaveLength(0);
    const message = /take 200000 bytes of memory, the limit is 100000/;
    if (status === 'paused') {
      expect(row?.invocation.retry?.failure).toMatchObject({ docCode: 'RT0001' });
      expect(row?.invocation.retry?.failure.message).toMatch(message);
    } else expect(asked.text).toMatch(message);
  });

  it('reads one large message after the other when there is no room for both', async () => {
    const settings = { payloadMemoryBytesMax: 400_000 };
    const world = await TestWorld.start({ schema, settings });
    const proposal = proposeRun(1, LARGE);
    const streams: SdkStream[] = [];
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.has('run')) stream.finish('done');
      if (streams.includes(stream)) return;
      streams.push(stream);
      stream.send(run('step', 1));
      stream.send(proposal.subarray(0, 100_000));
    });
    const first = world.invoke('Greeter/work', '');
    const second = world.invoke('Greeter/work', '');
    await world.time.settle();
    expect(streams.map(({ isPaused }) => isPaused)).toEqual([false, true]);
    expect(await awaiting(world, second.invocationId)).toBe('memory for its payloads');
    streams[0]?.send(proposal.subarray(100_000));
    await world.time.settle();
    expect(first.text).toBe('done');
    expect(streams.map(({ isPaused }) => isPaused)).toEqual([false, false]);
    streams[1]?.send(proposal.subarray(100_000));
    await world.time.settle();
    expect(second.text).toBe('done');
  });

  it('is waited for as long as it takes: an attempt that is not read is not silent', async () => {
    const settings = { payloadMemoryBytesMax: 400_000 };
    const world = await TestWorld.start({ schema, settings });
    const proposal = proposeRun(1, LARGE);
    const streams: SdkStream[] = [];
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.has('run')) stream.finish('done');
      if (streams.includes(stream)) return;
      streams.push(stream);
      stream.send(run('step', 1));
      stream.send(proposal.subarray(0, 100_000));
    });
    world.invoke('Greeter/work', '');
    const second = world.invoke('Greeter/work', '');
    let at = 100_000;
    for (let minutes = 0; minutes < 15; minutes += 0.5) {
      await world.time.pass(30_000);
      streams[0]?.send(proposal.subarray(at, at + 1));
      at += 1;
    }
    expect(streams[1]).toMatchObject({ isPaused: true, isRequestClosed: false });
    streams[0]?.send(proposal.subarray(at));
    await world.time.settle();
    streams[1]?.send(proposal.subarray(100_000));
    await world.time.settle();
    expect([streams.length, second.text]).toEqual([2, 'done']);
  });

  it('is given back by attempts that break off, whatever they were about', async () => {
    const settings = { payloadMemoryBytesMax: 400_000 };
    const world = await TestWorld.start({ schema, settings });
    const proposal = proposeRun(1, LARGE);
    let attempts = 0;
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.sent.length > 0) return;
      attempts += 1;
      if (attempts > 40) {
        stream.send(output('at last'), END);
        return;
      }
      stream.send(run('step', 1), proposal.subarray(0, 100_000));
      stream.breakOff();
    });
    const asks = [1, 2, 3].map(() => world.invoke('Greeter/work', LARGE));
    await world.time.pass(3_600_000);
    expect(asks.map((asked) => asked.text)).toEqual(asks.map(() => 'at last'));
  });
});

describe('limits of an attempt', () => {
  it('a message above the limit fails it with RT0003', async () => {
    const settings = { messageSizeBytesMax: 1_000 };
    const world = await TestWorld.start({ schema, settings });
    const frameBytesMax = 1_000 + limits.MESSAGE_OVERHEAD_BYTES_MAX;
    world.deployment.on('Greeter/work', (stream) => {
      stream.send(run('step', 1), proposeRun(1, 'x'.repeat(frameBytesMax)));
    });
    const { invocationId } = world.invoke('Greeter/work', '');
    await world.time.settle();
    const failure = (await world.row(invocationId))?.invocation.retry?.failure;
    expect(failure).toMatchObject({ docCode: 'RT0003' });
  });

  it('an await tree above the limit pauses it with RT0025', async () => {
    const world = await TestWorld.start({
      schema: schemaWithHints(service('Greeter', 'service', ['work'])),
    });
    let tree = bytes(1, Uint8Array.of(1));
    for (let depth = 0; depth < limits.AWAIT_DEPTH_MAX; depth += 1) tree = bytes(4, tree);
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.sent.length === 0) stream.send(frame(MESSAGE_TYPE.suspension, bytes(4, tree)));
    });
    const { invocationId } = world.invoke('Greeter/work', '');
    await world.time.settle();
    const row = (await world.row(invocationId))?.invocation;
    expect(row?.status).toBe('paused');
    expect(row?.retry?.failure).toMatchObject({ docCode: 'RT0025' });
  });
});

describe('keys', () => {
  it.each([
    ['of a state value', setState('k'.repeat(limits.KEY_BYTES_MAX + 1), '1')],
    ['of a state value, counted in bytes', setState('ä'.repeat(limits.KEY_BYTES_MAX / 2 + 1), '1')],
    [
      'of an object',
      call({ service: 'Counter', handler: 'add', key: 'k'.repeat(limits.KEY_BYTES_MAX + 1) }, '1', {
        invocationId: 1,
        result: 2,
      }),
    ],
  ])('%s above the limit are refused with RT0017', async (_what, frames) => {
    const world = await TestWorld.start({ schema: keyed });
    world.deployment.on('Counter/add', (stream) => {
      if (stream.sent.length === 0) stream.send(frames);
    });
    const { invocationId } = world.invoke('Counter/k/add', '');
    await world.time.settle();
    const failure = (await world.row(invocationId))?.invocation.retry?.failure;
    expect(failure).toMatchObject({ docCode: 'RT0017' });
    expect(failure?.message).toContain('longer than 65536 bytes');
  });

  it('of exactly the largest size are good', async () => {
    const world = await TestWorld.start({ schema: keyed });
    const key = 'k'.repeat(limits.KEY_BYTES_MAX);
    world.deployment.on('Counter/add', (stream) => {
      if (stream.sent.length > 0) return;
      stream.send(setState(key, '1'));
      stream.finish('ok');
    });
    const asked = world.invoke('Counter/k/add', '');
    await world.time.settle();
    expect(asked.text).toBe('ok');
  });
});

describe('a state that replaces another', () => {
  it.each([
    ['values', [{ key: 'x', value: new Uint8Array(1_000) }], 'limit-reached'],
    [
      'keys',
      [{ key: 'k'.repeat(limits.KEY_BYTES_MAX + 1), value: new Uint8Array() }],
      'limit-reached',
    ],
    ['nothing too large', [{ key: 'x', value: new Uint8Array(999) }], 'done'],
  ] as const)('is refused for what is too large in it: %s', async (_what, entries, outcome) => {
    const world = await TestWorld.start({ schema, settings: { messageSizeBytesMax: 1_000 } });
    const asked = world.send((requestId) => ({
      kind: 'replace-state',
      requestId,
      service: 'Counter',
      key: 'k',
      expectedVersion: undefined,
      entries,
    }));
    await world.time.settle();
    expect(asked.text).toBe(outcome);
  });
});
