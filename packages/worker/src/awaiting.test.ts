import { afterEach, describe, expect, it } from '@jest/globals';
import { formatAwakeableId, type AwaitTree } from '@engine/domain';
import { configureLogging } from '@engine/telemetry';

import { awaitedText, AWAITED_TEXT_LENGTH_MAX, openStepsText } from './invoker/awaited.js';
import { OPEN_STEPS_KEPT_MAX, OpenSteps } from './invoker/open-steps.js';
import { SILENCE_LINES_PER_MINUTE_MAX } from './invoker/silences.js';
import {
  awaitingOn,
  call,
  error,
  proposeRun,
  run,
  sleep,
  suspension,
} from './testing/sdk-frames.js';
import { schemaOf, schemaWithHints, service, TestWorld } from './testing/test-worker.js';

const services = [
  service('Greeter', 'service', ['greet', 'work', 'nap']),
  service('Counter', 'virtual-object', ['add']),
];
const schema = schemaOf(...services);

async function awaiting(world: TestWorld, id: Parameters<TestWorld['row']>[0]) {
  return (await world.row(id))?.awaiting;
}

/** Lines of at least level warn from now on, as objects. */
function listenToLog(): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const write = (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      lines.push(JSON.parse(line) as Record<string, unknown>);
    }
    return true;
  };
  configureLogging({ filter: 'warn', format: 'json', sink: { write, isTTY: false } });
  return lines;
}

afterEach(() => {
  configureLogging({ filter: 'silent', sink: process.stderr });
});

describe('what an invocation waits for', () => {
  it('a running handler that does not say it: its steps without an answer, since it was last heard', async () => {
    const world = await TestWorld.start({ schema });
    const started = world.time.now();
    const wakeAt = started + 3_600_000;
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.sent.length > 0) return;
      const to = { service: 'Counter', key: 'k', handler: 'add' };
      const ids = { invocationId: 5, result: 6 };
      stream.send(run('step', 1), proposeRun(1, '1'), sleep(wakeAt, 2), call(to, '1', ids));
    });
    const { invocationId } = world.invoke('Greeter/work', '');
    await world.time.pass(30_000);
    expect(await awaiting(world, invocationId)).toEqual({
      on: `any of (sleep until ${new Date(wakeAt).toISOString()}, call Counter/k/add)`,
      since: started,
    });
    const live = (await world.row(invocationId))?.live;
    expect(live).toMatchObject({ isInFlight: true, lastHeardAt: started });
  });

  it('a handler that says it: the steps it names, since it first named them', async () => {
    const world = await TestWorld.start({ schema: schemaWithHints(...services) });
    const started = world.time.now();
    const wakeAt = started + 3_600_000;
    world.deployment.on('Greeter/nap', (stream) => {
      if (stream.sent.length > 0) return;
      stream.send(run('other', 1), sleep(wakeAt, 2), awaitingOn([2]));
      world.time.after(1_000, () => {
        stream.send(awaitingOn([2]));
      });
    });
    const { invocationId } = world.invoke('Greeter/nap', '');
    await world.time.pass(5_000);
    const row = await world.row(invocationId);
    expect(row?.awaiting).toEqual({
      on: `sleep until ${new Date(wakeAt).toISOString()}`,
      since: started,
    });
    expect(row?.live?.lastHeardAt).toBe(started + 1_000);
  });

  it('a deployment that says nothing at all: itself, since the attempt began', async () => {
    const world = await TestWorld.start({ schema });
    const started = world.time.now();
    world.deployment.on('Greeter/greet', () => undefined);
    const { invocationId } = world.invoke('Greeter/greet', '');
    await world.time.pass(30_000);
    expect(await awaiting(world, invocationId)).toEqual({ on: 'the deployment', since: started });
    expect((await world.row(invocationId))?.live?.lastHeardAt).toBeUndefined();
  });

  it('steps that were replayed count too', async () => {
    const world = await TestWorld.start({ schema });
    const wakeAt = world.time.now() + 1_000;
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.isRequestClosed) return;
      if (stream.frames.length === 2) {
        const to = { service: 'Counter', key: 'k', handler: 'add' };
        const ids = { invocationId: 5, result: 6 };
        stream.send(sleep(wakeAt, 1), call(to, '1', ids), suspension([1]));
      }
    });
    const { invocationId } = world.invoke('Greeter/work', '');
    await world.time.pass(500);
    expect((await awaiting(world, invocationId))?.on).toBe('completion 1');
    await world.time.pass(1_000);
    expect(world.deployment.streamsOf('Greeter/work')).toHaveLength(2);
    expect((await awaiting(world, invocationId))?.on).toBe('call Counter/k/add');
  });

  it('a backing-off one: its next attempt; the row tells why and when', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.send(error(500, 'not yet'));
    });
    const { invocationId } = world.invoke('Greeter/greet', '');
    await world.time.settle();
    const row = await world.row(invocationId);
    expect(row?.awaiting?.on).toBe('its next attempt');
    expect(row?.live).toMatchObject({ isInFlight: false, retryCount: 1 });
    expect(row?.live?.nextRetryAt).toBeGreaterThan(world.time.now());
    expect(row?.invocation.retry?.failure).toMatchObject({ code: 500, message: 'not yet' });
  });

  it('a queued one: its turn; one without a slot: the slot', async () => {
    const settings = { concurrentInvocationsMax: 1 };
    const world = await TestWorld.start({ schema, settings });
    world.deployment.on('Counter/add', () => undefined);
    world.invoke('Counter/k/add', '');
    const queued = world.invoke('Counter/k/add', '');
    const ready = world.invoke('Greeter/greet', '');
    await world.time.settle();
    expect((await awaiting(world, queued.invocationId))?.on).toBe('its turn at Counter/k');
    expect((await awaiting(world, ready.invocationId))?.on).toBe('a free slot');
  });

  it('names awakeables and combinators, leaves out what every handler awaits, and has an end', async () => {
    const world = await TestWorld.start({ schema });
    const { id } = world.invocation('Greeter/greet', '');
    const single = (leaf: Extract<AwaitTree, { kind: 'single' }>['id']): AwaitTree => ({
      kind: 'single',
      id: leaf,
    });
    const cancel = single({ kind: 'signal', index: 1 });
    const tree: AwaitTree = {
      kind: 'first-completed',
      children: [
        {
          kind: 'all-completed',
          children: [
            single({ kind: 'signal', index: 17 }),
            single({ kind: 'named-signal', name: 'go' }),
          ],
        },
        cancel,
      ],
    };
    const awakeable = formatAwakeableId({ invocationId: id, signalIndex: 17 });
    expect(awaitedText(id, tree, [])).toBe(`all of (awakeable ${awakeable}, signal 'go')`);
    expect(awaitedText(id, cancel, [])).toBe('its cancellation');
    const many = Array.from({ length: 10_000 }, (_, index) =>
      single({ kind: 'completion', id: index }),
    );
    const text = awaitedText(id, { kind: 'unknown', children: many }, []);
    expect(text.length).toBeLessThanOrEqual(AWAITED_TEXT_LENGTH_MAX);
    expect(text).toContain('completion 7, ');
  });

  it('remembers the last steps only', () => {
    const steps = new OpenSteps();
    for (let id = 1; id <= 100; id += 1) {
      const raw = new Uint8Array();
      steps.add({ type: 'run', name: `step ${String(id)}`, raw, completionId: id });
    }
    const open = steps.open('inv' as never, { notification: () => undefined });
    expect(open).toHaveLength(OPEN_STEPS_KEPT_MAX);
    expect(openStepsText(open)).toContain("run 'step 100'");
  });
});

describe('a handler that does not suspend when its inactivity timeout is over', () => {
  it('is reported once, with what it waits for and since when', async () => {
    const lines = listenToLog();
    const world = await TestWorld.start({ schema });
    const started = world.time.now();
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.sent.length === 0 && !stream.isRequestClosed) stream.send(run('charge', 1));
    });
    const { invocationId } = world.invoke('Greeter/work', '');
    await world.time.pass(60_000);
    expect(lines).toEqual([]);
    await world.time.pass(120_000);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      invocation: invocationId,
      attempt: 1,
      awaitingOn: "run 'charge'",
      awaitingSince: started,
    });
    expect(JSON.stringify(lines[0])).toContain(
      `it waits for run 'charge' since ${new Date(started).toISOString()}`,
    );
    await world.time.pass(480_000);
    const row = await world.row(invocationId);
    expect(row?.invocation.retry?.failure.docCode).toBe('RT0001');
  });

  it('is not reported when it suspends, or speaks again', async () => {
    const lines = listenToLog();
    const world = await TestWorld.start({ schema });
    const wakeAt = world.time.now() + 3_600_000;
    world.deployment.on('Greeter/nap', (stream) => {
      if (stream.sent.length === 0) stream.send(sleep(wakeAt, 1));
      else if (stream.isRequestClosed && !stream.isSuspended) stream.suspend(suspension([1]));
    });
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.sent.length === 0) stream.send(run('slow', 1));
      else if (stream.isRequestClosed) {
        world.time.after(4_000, () => {
          stream.send(proposeRun(1, '1'), suspension([1]));
        });
      }
    });
    world.invoke('Greeter/nap', '');
    world.invoke('Greeter/work', '');
    await world.time.pass(120_000);
    expect(lines).toEqual([]);
  });

  it('is only counted when there are many', async () => {
    const lines = listenToLog();
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/work', (stream) => {
      if (stream.sent.length === 0) stream.send(run('slow', 1));
    });
    for (let count = 0; count < 50; count += 1) world.invoke('Greeter/work', '');
    await world.time.pass(120_000);
    expect(lines).toHaveLength(SILENCE_LINES_PER_MINUTE_MAX);
  });
});
