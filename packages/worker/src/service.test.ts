import { describe, expect, it } from '@jest/globals';
import { COMMAND_CODE } from '@engine/service-protocol';

import {
  awaitingOn,
  call,
  END,
  error,
  output,
  proposeRun,
  run,
  setState,
  sleep,
  suspension,
} from './testing/sdk-frames.js';
import { schemaOf, schemaWithHints, service, TestWorld } from './testing/test-worker.js';

const schema = schemaOf(
  service('Greeter', 'service', ['greet', 'run', 'nap', 'ask', 'fail']),
  service('Counter', 'virtual-object', ['add']),
);

describe('worker', () => {
  it('answers an echo when its end is durable', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    const asked = world.invoke('Greeter/greet', 'ada');
    await world.time.settle();
    expect(asked.text).toBe('hello');
    expect(world.worker.runningCount).toBe(0);
    const [stream] = world.deployment.streams;
    expect(stream?.request.path).toBe('/invoke/Greeter/greet');
    expect(stream?.request.headers).toEqual({
      'content-type': 'application/vnd.restate.invocation.v6',
      accept: 'application/vnd.restate.invocation.v6',
      'x-restate-invocation-id': asked.invocationId,
      'x-restate-cluster-name': 'test',
    });
    expect(stream?.isRequestClosed).toBe(true);
  });

  it('gives a run its stored completion before it goes on', async () => {
    const world = await TestWorld.start({ schema });
    let proposed = false;
    world.deployment.on('Greeter/run', (stream) => {
      if (stream.has('run')) stream.finish('done');
      else if (!proposed) {
        proposed = true;
        stream.send(run('step', 1), proposeRun(1, '"once"'));
      }
    });
    const asked = world.invoke('Greeter/run', '');
    await world.time.settle();
    expect(asked.text).toBe('done');
    expect(world.deployment.streams).toHaveLength(1);
  });

  it('sleeps suspended, wakes when the time has come and not before', async () => {
    const world = await TestWorld.start({ schema });
    const wakeAt = world.time.now() + 5_000;
    world.deployment.on('Greeter/nap', (stream) => {
      if (stream.has('sleep')) stream.finish('rested');
      else if (stream.frames.length === 2) stream.send(sleep(wakeAt, 1), suspension([1]));
    });
    const asked = world.invoke('Greeter/nap', '');
    await world.time.pass(4_999);
    expect(asked.text).toBeUndefined();
    expect((await world.row(asked.invocationId))?.invocation.status).toBe('suspended');
    expect(world.worker.runningCount).toBe(0);
    await world.time.pass(1);
    expect(asked.text).toBe('rested');
    expect(world.deployment.streams).toHaveLength(2);
  });

  it('sleeps on through a restart', async () => {
    const world = await TestWorld.start({ schema });
    const wakeAt = world.time.now() + 5_000;
    world.deployment.on('Greeter/nap', (stream) => {
      if (stream.has('sleep')) stream.finish('rested');
      else if (stream.frames.length === 2) stream.send(sleep(wakeAt, 1), suspension([1]));
    });
    const asked = world.invoke('Greeter/nap', '', 'submission');
    await world.time.pass(1_000);
    await world.restart();
    await world.time.pass(3_999);
    expect((await world.row(asked.invocationId))?.invocation.status).toBe('suspended');
    await world.time.pass(1);
    expect((await world.row(asked.invocationId))?.invocation.status).toBe('completed');
  });

  it('calls a handler in another partition and gets its result', async () => {
    const world = await TestWorld.start({ schema, settings: { partitionCount: 8 } });
    world.deployment.on('Greeter/ask', (stream) => {
      if (stream.has('call')) stream.finish('heard');
      else if (stream.frames.length === 2) {
        const to = { service: 'Counter', key: 'k', handler: 'add' };
        stream.send(call(to, '1', { invocationId: 1, result: 2 }));
      }
    });
    world.deployment.on('Counter/add', (stream) => {
      if (!stream.hasCode(COMMAND_CODE['set-state'])) stream.send(setState('n', '1'));
      stream.finish('1');
    });
    const asks = Array.from({ length: 16 }, () => world.invoke('Greeter/ask', ''));
    await world.time.settle();
    expect(asks.map((asked) => asked.text)).toEqual(asks.map(() => 'heard'));
    const partitions = new Set(asks.map((asked) => world.partitionOf(asked.invocationId)));
    expect(partitions.size).toBeGreaterThan(1);
  });

  it('tries a failed attempt again after the delay of its policy', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/fail', (stream) => {
      if (world.deployment.streams.length < 3) stream.send(error(500, 'not yet'));
      else stream.finish('at last');
    });
    const asked = world.invoke('Greeter/fail', '');
    await world.time.settle();
    const backingOff = await world.row(asked.invocationId);
    expect(backingOff?.invocation.retry?.failure).toMatchObject({ code: 500, message: 'not yet' });
    expect(backingOff?.live).toMatchObject({ isInFlight: false, retryCount: 1 });
    await world.time.pass(700);
    expect(world.deployment.streams).toHaveLength(2);
    await world.time.pass(1_400);
    expect(asked.text).toBe('at last');
  });

  it('tells what a running handler says it awaits, as long as it runs', async () => {
    const world = await TestWorld.start({
      schema: schemaWithHints(service('Greeter', 'service', ['nap'])),
    });
    const wakeAt = world.time.now() + 5_000;
    world.deployment.on('Greeter/nap', (stream) => {
      if (stream.has('sleep')) stream.finish('rested');
      else if (stream.sent.length === 0) stream.send(sleep(wakeAt, 1), awaitingOn([1]));
    });
    const asked = world.invoke('Greeter/nap', '');
    await world.time.settle();
    expect((await world.row(asked.invocationId))?.live).toMatchObject({
      isInFlight: true,
      awaitingOn: {
        kind: 'first-completed',
        children: [{ kind: 'single', id: { kind: 'completion', id: 1 } }],
      },
    });
    await world.time.pass(5_000);
    expect(asked.text).toBe('rested');
    expect((await world.row(asked.invocationId))?.live).toBeUndefined();
  });

  it('fails an attempt without a deployment and finds the one registered later', async () => {
    const empty = schemaOf();
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    const invocation = world.invocation('Greeter/greet', '');
    world.schema = empty;
    const asked = world.send((requestId) => ({
      kind: 'invoke',
      requestId,
      invocation,
      awaits: 'result',
    }));
    await world.time.settle();
    const row = await world.row(asked.invocationId);
    expect(row?.invocation.retry?.failure.docCode).toBe('RT0011');
    world.schema = schema;
    await world.time.pass(1_000);
    expect(asked.text).toBe('hello');
  });

  it('refuses a call to an unknown handler even when the end came in the same chunk', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/ask', (stream) => {
      const to = { service: 'Nobody', handler: 'listens' };
      stream.send(call(to, '1', { invocationId: 1, result: 2 }), output('x'), END);
    });
    const asked = world.invoke('Greeter/ask', '');
    await world.time.settle();
    const row = await world.row(asked.invocationId);
    expect(asked.text).toBeUndefined();
    expect(row?.invocation.retry?.failure).toMatchObject({
      docCode: 'RT0018',
      relatedCommandIndex: 1,
      relatedCommandType: 'Call',
    });
  });

  it('repairs a crash between commit and release: the attempt starts, the answer is asked for again', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    world.machine.onDurable = () => {
      world.worker.kill();
    };
    const asked = world.invoke('Greeter/greet', '');
    await world.time.settle();
    expect(world.deployment.streams).toHaveLength(0);
    expect(asked.text).toBe('unavailable');
    world.machine.onDurable = () => undefined;
    await world.restart();
    expect(world.deployment.streams).toHaveLength(1);
    const again = world.send((requestId) => ({
      kind: 'attach',
      requestId,
      invocationId: asked.invocationId,
      blocking: true,
    }));
    await world.time.settle();
    expect(again.text).toBe('hello');
  });

  it('starts each attempt once, also those that overflowed the slots and the queue', async () => {
    const settings = { concurrentInvocationsMax: 2, waitingAttemptsMax: 3 };
    const world = await TestWorld.start({ schema, settings });
    let running = 0;
    let most = 0;
    world.deployment.on('Greeter/nap', (stream) => {
      if (stream.frames.length !== 2 || stream.isRequestClosed) return;
      running += 1;
      most = Math.max(most, running);
      world.time.after(10, () => {
        running -= 1;
        stream.finish('ok');
      });
    });
    const asks = Array.from({ length: 40 }, () => world.invoke('Greeter/nap', ''));
    await world.time.pass(1_000);
    expect(asks.map((asked) => asked.text)).toEqual(asks.map(() => 'ok'));
    expect(world.deployment.streams).toHaveLength(40);
    expect(most).toBe(2);
  });

  it('tells callers to come back when it stops, and loses nothing that is decided', async () => {
    const world = await TestWorld.start({ schema });
    const asked = world.invoke('Greeter/greet', '', 'submission');
    const stopped = world.worker[Symbol.asyncDispose]();
    await world.time.settle();
    await stopped;
    expect(asked.text).toBe('submitted');
    const late = world.invoke('Greeter/greet', '', 'submission');
    await world.time.settle();
    expect(late.answers).toEqual([{ kind: 'unavailable', reason: 'stopping' }]);
  });

  it('aborts a killed attempt and answers its callers', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', () => undefined);
    const asked = world.invoke('Greeter/greet', '');
    await world.time.settle();
    const { invocationId } = asked;
    const kill = world.send((requestId) => ({ kind: 'kill', requestId, invocationId }));
    await world.time.settle();
    expect(kill.answers).toEqual([{ kind: 'operation', outcome: 'done' }]);
    expect(asked.text).toBe('409 killed');
    expect(world.deployment.streams[0]?.isReset).toBe(true);
    expect(world.worker.runningCount).toBe(0);
  });

  it('releases nothing and says so when a commit fails', async () => {
    const world = await TestWorld.start({ schema });
    world.machine.onDurable = () => {
      throw new Error('disk is gone');
    };
    const asked = world.invoke('Greeter/greet', '', 'submission');
    await world.time.settle();
    expect(world.fatal).toHaveLength(1);
    expect(asked.answers).toEqual([{ kind: 'unavailable', reason: 'stopping' }]);
    expect(world.deployment.streams).toHaveLength(0);
  });

  it('resets a response that goes on after the end of its attempt, without delaying the answer', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      if (!stream.isRequestClosed) stream.send(output('hello'), END);
    });
    const asked = world.invoke('Greeter/greet', '');
    await world.time.settle();
    expect(asked.text).toBe('hello');
    expect(world.worker.runningCount).toBe(0);
    await world.time.pass(4_999);
    expect(world.deployment.streams[0]?.isReset).toBe(false);
    await world.time.pass(1);
    expect(world.deployment.streams[0]?.isReset).toBe(true);
  });

  it('asks a silent handler to suspend, then gives its attempt up', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      if (stream.sent.length === 0 && !stream.isRequestClosed) stream.send();
    });
    const asked = world.invoke('Greeter/greet', '');
    await world.time.pass(59_999);
    expect(world.deployment.streams[0]?.isRequestClosed).toBe(false);
    await world.time.pass(1);
    expect(world.deployment.streams[0]?.isRequestClosed).toBe(true);
    await world.time.pass(600_000);
    const row = await world.row(asked.invocationId);
    expect(row?.invocation.retry?.failure.docCode).toBe('RT0001');
    await world.time.pass(5_000);
    expect(world.deployment.streams[0]?.isReset).toBe(true);
  });

  it('stops reading an attempt that talks faster than its words become durable', async () => {
    const world = await TestWorld.start({ schema });
    const frames = Array.from({ length: 300 }, (_, index) => run('step', index + 1));
    const pauses: boolean[] = [];
    world.deployment.on('Greeter/greet', (stream) => {
      if (stream.isRequestClosed || stream.sent.length > 0) return;
      stream.send(...frames);
      world.time.immediate(() => pauses.push(stream.isPaused));
      world.time.after(10, () => {
        pauses.push(stream.isPaused);
        stream.finish('hello');
      });
    });
    const asked = world.invoke('Greeter/greet', '');
    await world.time.pass(10);
    expect(pauses).toEqual([true, false]);
    expect(asked.text).toBe('hello');
  });
});
