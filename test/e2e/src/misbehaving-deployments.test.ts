/**
 * Every way in which a deployment can break the service protocol. Each costs its own attempt, with a code that says what is wrong,
 * and nothing else: others go on, the process lives and rests while the retries wait.
 */

import { constants } from 'node:http2';
import type { Socket } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cpuSeconds, EngineProcess, waitUntil } from '@engine-test/support';

import { call, invocation, result, send, type InvocationRow } from './ask.js';
import { run } from './frames.js';
import { HostileDeployment, StrangeListener, type Answer } from './hostile-deployment.js';
import {
  COMMANDS,
  ENDS,
  FINE,
  fine,
  FRAMES,
  HEADS,
  OLD_VERSION,
  says,
  SUSPENSIONS,
  TIMES,
  type Case,
  type Outcome,
} from './misbehaviour.js';
import { ServiceProcess } from './service-process.js';

let engine: EngineProcess;
let services: ServiceProcess;
const disposables: AsyncDisposable[] = [];

beforeAll(async () => {
  [engine, services] = await Promise.all([
    EngineProcess.start({
      ENGINE_WORKER__INVOKER__INACTIVITY_TIMEOUT: '400ms',
      ENGINE_WORKER__INVOKER__ABORT_TIMEOUT: '400ms',
    }),
    ServiceProcess.start(),
  ]);
  await engine.register(services.uri);
}, 60_000);

afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
  for (const each of disposables) await each[Symbol.asyncDispose]();
});

async function hostile(
  service: string,
  answers: Readonly<Record<string, Answer>>,
  protocolVersionMax = 7,
): Promise<HostileDeployment> {
  const deployment = await HostileDeployment.start({ service, protocolVersionMax }, answers);
  disposables.push(deployment);
  await engine.register(deployment.uri);
  return deployment;
}

/** Waits until the invocation has the expected outcome, or any other one that is an outcome. */
async function outcome(id: string, expected: Outcome): Promise<Outcome> {
  if ('result' in expected) return { result: await result(engine, id, 5_000) };
  const isOver = ({ status }: InvocationRow): boolean =>
    ['backing-off', 'paused', 'suspended', 'completed'].includes(status);
  const row = await waitUntil(
    'the attempt is over',
    async () => {
      const found = await invocation(engine, id);
      return found !== undefined && isOver(found) ? found : undefined;
    },
    5_000,
  );
  const code = row.last_failure_error_code ?? 'none';
  if (row.status === 'backing-off') return { failure: code };
  return row.status === 'paused' ? { paused: code } : { status: row.status };
}

/** All cases of a table run side by side, so that the slowest one sets the time. */
function describeTable(
  service: string,
  cases: Readonly<Record<string, Case>>,
  { title, protocolVersionMax }: { readonly title: string; readonly protocolVersionMax?: number },
): void {
  describe(title, () => {
    const ids = new Map<string, string>();
    let deployment: HostileDeployment;
    beforeAll(async () => {
      const answers = Object.entries(cases).map(([name, { answer }]) => [name, answer] as const);
      deployment = await hostile(service, Object.fromEntries(answers), protocolVersionMax);
      for (const name of Object.keys(cases)) {
        ids.set(name, await send(engine, `${service}/${name}`));
      }
    });

    it.each(Object.keys(cases))('%s', async (name) => {
      const expected = cases[name]?.expected ?? fine;
      expect(await outcome(ids.get(name) ?? '', expected)).toEqual(expected);
    });

    it('costs one attempt each and leaves others alone', async () => {
      expect(Object.keys(cases).filter((name) => deployment.attempts.get(name) !== 1)).toEqual([]);
      expect(await call(engine, 'Story/greet', 'Ada')).toBe('Hello Ada');
      expect(engine.isRunning).toBe(true);
    });
  });
}

describeTable('Heads', HEADS, { title: 'a response head' });
describeTable('Ends', ENDS, { title: 'the end of a response' });
describeTable('Frames', FRAMES, { title: 'a frame' });
describeTable('Commands', COMMANDS, { title: 'a command' });
describeTable('Suspensions', SUSPENSIONS, { title: 'a suspension' });
describeTable('OldVersion', OLD_VERSION, { title: 'protocol version 6', protocolVersionMax: 6 });
describeTable('Times', TIMES, { title: 'silence' });

describe('a connection', () => {
  const unreachable = { failure: 'RT0010' };

  it('is refused', async () => {
    const deployment = await hostile('Gone', { greet: says(...FINE) });
    await deployment[Symbol.asyncDispose]();
    expect(await outcome(await send(engine, 'Gone/greet'), unreachable)).toEqual(unreachable);
  });

  it.each([
    ['before the head', false],
    ['in the middle of the response', true],
  ])('loses the stream to RST_STREAM %s', async (_when, hasHead) => {
    const service = hasHead ? 'ResetLate' : 'ResetEarly';
    await hostile(service, {
      greet: (attempt) => {
        if (hasHead) attempt.say(run(1));
        // Not close(): it would end the response in good order first.
        setImmediate(() => attempt.stream.destroy(new Error('reset')));
      },
    });
    expect(await outcome(await send(engine, `${service}/greet`), unreachable)).toEqual(unreachable);
  });

  it('goes away in good order: what is in flight ends well, what comes next gets another', async () => {
    const deployment = await hostile('Leaving', {
      greet: (attempt) => {
        attempt.stream.session?.goaway(constants.NGHTTP2_NO_ERROR);
        setImmediate(() => {
          attempt.say(...FINE).close();
        });
      },
    });
    for (let count = 1; count <= 3; count += 1) {
      expect(await outcome(await send(engine, 'Leaving/greet'), fine)).toEqual(fine);
      expect(deployment.attempts.get('greet')).toBe(count);
    }
  });

  it('goes away with an error in the middle of the response', async () => {
    await hostile('Fleeing', {
      greet: (attempt) => {
        attempt.say(run(1));
        attempt.stream.session?.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
      },
    });
    expect(await outcome(await send(engine, 'Fleeing/greet'), unreachable)).toEqual(unreachable);
  });

  it('is cut in the middle of the response', async () => {
    await hostile('Cut', {
      greet: (attempt) => {
        attempt.say(run(1));
        setImmediate(() => attempt.stream.session?.socket.destroy());
      },
    });
    expect(await outcome(await send(engine, 'Cut/greet'), unreachable)).toEqual(unreachable);
  });

  it.each([
    { what: 'never says a word', service: 'Mute', failure: 'RT0001', greet: () => undefined },
    {
      what: 'hangs up at once',
      service: 'Slammed',
      failure: 'RT0010',
      greet: (socket: Socket) => socket.destroy(),
    },
    {
      what: 'speaks HTTP/1.1',
      service: 'OldFashioned',
      failure: 'RT0010',
      greet: (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    },
    {
      what: 'speaks noise without an end',
      service: 'Noisy',
      failure: 'RT0010',
      greet: (socket: Socket) => {
        const flood = (): void => {
          while (socket.writable && socket.write(Buffer.alloc(16_384, 0xa5)));
        };
        socket.on('drain', flood);
        flood();
      },
    },
  ])('$what', async ({ service, failure, greet }) => {
    const deployment = await hostile(service, { greet: says(...FINE) });
    await deployment[Symbol.asyncDispose]();
    disposables.push(await StrangeListener.start(deployment.uri, greet));
    const id = await send(engine, `${service}/greet`);
    expect(await outcome(id, { failure })).toEqual({ failure });
  });
});

describe('the process', () => {
  it('lives, serves others and rests while all of these wait for their retries', async () => {
    expect(engine.isRunning).toBe(true);
    expect(await call(engine, 'Tally/others/add', 2)).toBe(2);
    if (process.platform !== 'linux' || engine.pid === undefined) return;
    const pid = engine.pid;
    const restsFor = async (ms: number): Promise<boolean> => {
      const before = cpuSeconds(pid);
      await new Promise((resolve) => setTimeout(resolve, ms));
      return cpuSeconds(pid) - before <= 0.1 * (ms / 1_000);
    };
    await waitUntil('the process is idle', () => restsFor(1_000), 15_000);
  }, 20_000);
});
