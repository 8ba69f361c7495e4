import { describe, expect, it } from '@jest/globals';
import { composeInvocationId, partitionKeyOf, type InvocationId } from '@engine/domain';
import { COMMAND_CODE } from '@engine/service-protocol';
import { encodeUtf8 } from '@engine/stdx';

import type { SdkStream } from './testing/scripted-deployment.js';
import { proposeRun, run, setState } from './testing/sdk-frames.js';
import {
  DEPLOYMENT_ID,
  NEXT_DEPLOYMENT_ID,
  schemaOf,
  service,
  TestWorld,
  upgraded,
} from './testing/test-worker.js';

const greeter = service('Greeter', 'service', ['greet', 'work']);
const schema = schemaOf(greeter, service('Counter', 'virtual-object', ['add']));

/** Runs a step, then waits until somebody lets it go on. */
function waitAfterStep(stream: SdkStream): void {
  if (!stream.knows(COMMAND_CODE.run)) stream.send(run('step', 1), proposeRun(1, '"once"'));
}

async function startWork(world: TestWorld) {
  world.deployment.on('Greeter/work', waitAfterStep);
  const asked = world.invoke('Greeter/work', '"input"');
  await world.time.settle();
  return asked;
}

/** An id as the admin API chooses it for a restart: of the partition of the old one. */
function idBeside(id: InvocationId): InvocationId {
  return composeInvocationId(partitionKeyOf(id), new Uint8Array(16).fill(9));
}

describe('operations on invocations', () => {
  it('pause takes a running attempt off its deployment; resume replays all that is stored', async () => {
    const world = await TestWorld.start({ schema });
    const asked = await startWork(world);
    const pause = world.operate('pause', asked.invocationId);
    await world.time.settle();
    expect(pause.text).toBe('done');
    const [paused] = world.deployment.streams;
    expect(paused?.isReset).toBe(true);
    expect(world.worker.runningCount).toBe(0);
    const row = await world.row(asked.invocationId);
    expect(row?.invocation.status).toBe('paused');
    expect(row?.live).toBeUndefined();
    await world.time.pass(3_600_000);
    expect(world.deployment.streams).toHaveLength(1);

    world.deployment.on('Greeter/work', (stream) => {
      if (stream.has('run')) stream.finish('done');
    });
    const { invocationId } = asked;
    const resume = world.send((requestId) => ({
      kind: 'resume',
      requestId,
      invocationId,
      deployment: { kind: 'keep' },
    }));
    await world.time.settle();
    expect(resume.text).toBe('done');
    expect(asked.text).toBe('done');
    const resumed = world.deployment.streams[1];
    // Start, input, run and its completion.
    expect(resumed?.frames.slice(0, 4)).toHaveLength(4);
    expect(resumed?.hasCode(COMMAND_CODE.run)).toBe(true);
  });

  it('what a paused attempt still says does not count', async () => {
    const world = await TestWorld.start({ schema });
    const asked = await startWork(world);
    const length = (await world.row(asked.invocationId))?.invocation.journalLength;
    const [stream] = world.deployment.streams;
    stream?.send(run('late', 2));
    world.operate('pause', asked.invocationId);
    await world.time.settle();
    stream?.send(run('later', 3));
    await world.time.settle();
    const row = (await world.row(asked.invocationId))?.invocation;
    expect(row?.status).toBe('paused');
    expect(row?.journalLength).toBeLessThanOrEqual((length ?? 0) + 1);
  });

  it.each(['latest', 'fixed'] as const)(
    'resume on another deployment (%s) goes there and stays',
    async (kind) => {
      const world = await TestWorld.start({ schema });
      const asked = await startWork(world);
      world.operate('pause', asked.invocationId);
      await world.time.settle();
      expect(world.deployment.streams[0]?.request.deployment.id).toBe(DEPLOYMENT_ID);

      world.schema = upgraded(greeter);
      world.deployment.on('Greeter/work', (stream) => {
        if (stream.has('run')) stream.finish('done there');
      });
      const { invocationId } = asked;
      const deployment =
        kind === 'latest' ? ({ kind } as const) : { kind, deploymentId: NEXT_DEPLOYMENT_ID };
      const request = { invocationId, deployment } as const;
      const resume = world.send((requestId) => ({ kind: 'resume', requestId, ...request }));
      await world.time.settle();
      expect(resume.text).toBe('done');
      expect(asked.text).toBe('done there');
      expect(world.deployment.streams[1]?.request.deployment.id).toBe(NEXT_DEPLOYMENT_ID);
      const row = await world.row(invocationId);
      expect(row?.invocation.pin?.deploymentId).toBe(NEXT_DEPLOYMENT_ID);
    },
  );

  it('resume refuses a deployment that is unknown or does not speak the version of the journal', async () => {
    const world = await TestWorld.start({ schema });
    const { invocationId } = await startWork(world);
    world.operate('pause', invocationId);
    await world.time.settle();
    const resumeOn = async () => {
      const deployment = { kind: 'fixed', deploymentId: NEXT_DEPLOYMENT_ID } as const;
      const request = { invocationId, deployment };
      const resume = world.send((requestId) => ({ kind: 'resume', requestId, ...request }));
      await world.time.settle();
      return resume.text;
    };
    expect(await resumeOn()).toBe('deployment-not-found');
    world.schema = upgraded(greeter, { min: 7, max: 7 });
    expect(await resumeOn()).toBe('deployment-incompatible');
    expect((await world.row(invocationId))?.invocation.status).toBe('paused');
  });

  it('restart as new takes the first entries over and runs on from there', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/work', (stream) => {
      if (!stream.knows(COMMAND_CODE.run)) stream.send(run('step', 1), proposeRun(1, '"once"'));
      else if (stream.has('run')) stream.finish('first');
    });
    const asked = world.invoke('Greeter/work', '"input"');
    await world.time.settle();
    expect(asked.text).toBe('first');

    world.deployment.on('Greeter/work', (stream) => {
      if (stream.has('run') && !stream.sent.includes(COMMAND_CODE.run)) stream.finish('second');
    });
    const { invocationId } = asked;
    const newInvocationId = idBeside(invocationId);
    const request = { invocationId, newInvocationId, deployment: { kind: 'latest' } } as const;
    const restart = world.send((requestId) => ({
      kind: 'restart-as-new',
      requestId,
      copyUpTo: 1,
      ...request,
    }));
    await world.time.settle();
    expect(restart.text).toBe('done');
    const result = world.send((requestId) => ({
      kind: 'attach',
      requestId,
      invocationId: newInvocationId,
      blocking: true,
    }));
    await world.time.settle();
    expect(result.text).toBe('second');
    const stream = world.deployment.streams[1];
    expect(stream?.request.headers['x-restate-invocation-id']).toBe(newInvocationId);
    expect(stream?.hasCode(COMMAND_CODE.run)).toBe(true);
    expect((await world.row(newInvocationId))?.invocation.source.kind).toBe('restart-as-new');
    expect((await world.row(invocationId))?.invocation.status).toBe('completed');
  });

  it('an operation that is repeated with its request id has one effect', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    const { invocationId } = world.invoke('Greeter/greet', '');
    await world.time.settle();
    const newInvocationId = idBeside(invocationId);
    const restart = () =>
      world.send(() => ({
        kind: 'restart-as-new',
        requestId: 'the same',
        invocationId,
        newInvocationId,
        copyUpTo: 0,
        deployment: { kind: 'keep' },
      }));
    const first = restart();
    await world.time.settle();
    const second = restart();
    await world.time.settle();
    expect([first.text, second.text]).toEqual(['done', 'done']);
    expect(world.deployment.streams).toHaveLength(2);
  });

  it('purge hides a completed invocation from scans; purge-journal keeps its result', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    const { invocationId } = world.invoke('Greeter/greet', '');
    await world.time.settle();
    const journal = world.operate('purge-journal', invocationId);
    await world.time.settle();
    expect(journal.text).toBe('done');
    expect((await world.row(invocationId))?.invocation.journalLength).toBe(0);
    const attach = () =>
      world.send((requestId) => ({ kind: 'attach', requestId, invocationId, blocking: false }));
    const output = attach();
    await world.time.settle();
    expect(output.text).toBe('hello');

    const purge = world.operate('purge', invocationId);
    await world.time.settle();
    expect(purge.text).toBe('done');
    expect(await world.row(invocationId)).toBeUndefined();
    const gone = attach();
    await world.time.settle();
    expect(gone.text).toBe('not-found');
  });

  it('replaces the state of a key whose handler runs, after that handler', async () => {
    const world = await TestWorld.start({ schema });
    let finish = (): void => undefined;
    world.deployment.on('Counter/add', (stream) => {
      if (stream.isRequestClosed) return;
      finish = () => {
        stream.send(setState('n', '1'));
        stream.finish(stream.state('n') ?? 'nothing');
      };
    });
    const holding = world.invoke('Counter/k/add', '');
    await world.time.settle();
    const entries = [{ key: 'n', value: encodeUtf8('41') }];
    const replace = world.send((requestId) => ({
      kind: 'replace-state',
      requestId,
      service: 'Counter',
      key: 'k',
      expectedVersion: undefined,
      entries,
    }));
    await world.time.settle();
    expect(replace.text).toBe('appended');
    finish();
    await world.time.settle();
    expect(holding.text).toBe('nothing');
    const reading = world.invoke('Counter/k/add', '');
    await world.time.settle();
    finish();
    await world.time.settle();
    expect(reading.text).toBe('41');
  });

  it('pause of a backing-off invocation ends its wait; resume tries at once', async () => {
    const world = await TestWorld.start({ schema });
    world.deployment.on('Greeter/greet', (stream) => {
      stream.breakOff();
    });
    const asked = world.invoke('Greeter/greet', '');
    await world.time.settle();
    const { invocationId } = asked;
    world.operate('pause', invocationId);
    await world.time.pass(3_600_000);
    expect(world.deployment.streams).toHaveLength(1);
    world.deployment.on('Greeter/greet', (stream) => {
      stream.finish('hello');
    });
    const deployment = { kind: 'keep' } as const;
    world.send((requestId) => ({ kind: 'resume', requestId, invocationId, deployment }));
    await world.time.settle();
    expect(asked.text).toBe('hello');
  });

  it('an operation on an unknown id says so', async () => {
    const world = await TestWorld.start({ schema });
    const { id } = world.invocation('Greeter/greet', '');
    const asked = (['cancel', 'kill', 'pause', 'purge', 'purge-journal'] as const).map((kind) =>
      world.operate(kind, id),
    );
    await world.time.settle();
    expect(asked.map(({ text }) => text)).toEqual(asked.map(() => 'not-found'));
  });
});
