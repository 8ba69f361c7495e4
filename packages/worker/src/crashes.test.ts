/** Whole workers under crashes and a bad link between partitions: nothing acknowledged is lost, nothing happens twice. */

import { describe, expect, it } from '@jest/globals';
import { seededRandom, type Random } from '@engine/runtime';
import { COMMAND_CODE, MESSAGE_TYPE } from '@engine/service-protocol';
import type { PartitionPeer } from '@engine/wire';

import type { Worker } from './service.js';
import { call, proposeRun, run, setState, sleep, suspension } from './testing/sdk-frames.js';
import type { SdkStream } from './testing/scripted-deployment.js';
import { schemaOf, service, TestWorld } from './testing/test-worker.js';
import type { VirtualTime } from './testing/virtual-time.js';

const schema = schemaOf(
  service('Greeter', 'service', ['ask']),
  service('Counter', 'virtual-object', ['add']),
);
const ASKS = 30;
const COUNTER = { service: 'Counter', key: 'k', handler: 'add' };

/** Loses, repeats and delays what partitions tell each other. */
function badLink(worker: () => Worker, random: Random, time: () => VirtualTime): PartitionPeer {
  const carry = (fn: () => void): void => {
    for (let copy = 0; copy < 2; copy += 1) {
      if (random.float() < 0.5) time().after(random.float() * 30, fn);
    }
  };
  return {
    deliver: (batch) => {
      carry(() => {
        worker().deliver(batch);
      });
    },
    acknowledge: (ack) => {
      carry(() => {
        worker().acknowledge(ack);
      });
    },
  };
}

/** Runs a step, adds one to the counter, naps, answers. Suspends when the server wants it to, as SDKs do. */
function ask(stream: SdkStream, now: number): void {
  if (stream.frames.length < 2 || stream.isSuspended) return;
  if (!stream.knows(COMMAND_CODE.run)) stream.send(run('step', 1));
  if (!stream.has('run')) {
    if (!stream.sent.includes(MESSAGE_TYPE.proposeRunCompletion)) stream.send(proposeRun(1, '1'));
    waitFor(stream, 1);
    return;
  }
  if (!stream.knows(COMMAND_CODE.call)) {
    stream.send(call(COUNTER, '1', { invocationId: 2, result: 3 }));
  }
  if (!stream.has('call')) {
    waitFor(stream, 3);
    return;
  }
  if (!stream.knows(COMMAND_CODE.sleep)) stream.send(sleep(now + 50, 4));
  if (stream.has('sleep')) stream.finish('ok');
  else stream.suspend(suspension([4]));
}

function waitFor(stream: SdkStream, completionId: number): void {
  if (stream.isRequestClosed) stream.suspend(suspension([completionId]));
}

describe('worker under crashes', () => {
  it.each(Array.from({ length: 5 }, (_, index) => index + 1))(
    'adds exactly once per call, seed %d',
    async (seed) => {
      const random = seededRandom(seed);
      const world: TestWorld = await TestWorld.start({
        schema,
        seed,
        settings: { partitionCount: 4, concurrentInvocationsMax: 5, waitingAttemptsMax: 4 },
        peer: (worker) => badLink(worker, random, () => world.time),
      });
      world.deployment.on('Greeter/ask', (stream) => {
        ask(stream, world.time.now());
      });
      world.deployment.on('Counter/add', (stream) => {
        if (stream.frames.length < 2) return;
        const before = Number(stream.state('n') ?? '0');
        const isCounted = stream.knows(COMMAND_CODE['set-state']);
        if (!isCounted) stream.send(setState('n', String(before + 1)));
        stream.finish(String(isCounted ? before : before + 1));
      });
      const ids = Array.from(
        { length: ASKS },
        () => world.invoke('Greeter/ask', '', 'submission').invocationId,
      );
      // Submissions are durable; from here on anything may happen.
      await world.time.settle();
      for (let crash = 0; crash < 12; crash += 1) {
        await world.time.pass(random.float() * 60);
        await world.restart();
      }
      await world.time.pass(600_000);
      for (const id of ids) {
        expect((await world.row(id))?.invocation).toMatchObject({ status: 'completed' });
      }
      const total = world.invoke('Counter/k/add', '');
      await world.time.pass(1_000);
      expect(total.text).toBe(String(ASKS + 1));
      expect(world.fatal).toEqual([]);
    },
  );
});
