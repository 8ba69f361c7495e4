/** A cluster whose leaders change all the time: what callers ask for happens, and happens once. */

import { describe, expect, it } from '@jest/globals';
import { seededRandom, type Random } from '@engine/runtime';
import { COMMAND_CODE, MESSAGE_TYPE } from '@engine/service-protocol';

import { HostingWorld } from '../testing/hosting-world.js';
import { copyOf } from '../testing/memory-replicas.js';
import { call, proposeRun, run, setState, sleep, suspension } from '../testing/sdk-frames.js';
import type { SdkStream } from '../testing/scripted-deployment.js';
import { schemaOf, service } from '../testing/test-worker.js';

const schema = schemaOf(
  service('Greeter', 'service', ['ask']),
  service('Counter', 'virtual-object', ['add']),
);
const NODES = ['a', 'b', 'c'];
const PARTITIONS = 3;
const COUNTER = { service: 'Counter', key: 'k', handler: 'add' };

/** Runs a step, adds one to the counter, naps, answers. */
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

function add(stream: SdkStream): void {
  if (stream.frames.length < 2) return;
  const before = Number(stream.state('n') ?? '0');
  const isCounted = stream.knows(COMMAND_CODE['set-state']);
  if (!isCounted) stream.send(setState('n', String(before + 1)));
  stream.finish(String(isCounted ? before : before + 1));
}

async function oneOf(world: HostingWorld, random: Random): Promise<void> {
  const pick = (): string => NODES[Math.floor(random.float() * NODES.length)] ?? 'a';
  const partition = Math.floor(random.float() * PARTITIONS);
  const id = world.partition(partition);
  const [victim, heir] = [world.node(pick()), pick()];
  const standbys = NODES.filter((name) => name !== heir);
  const chance = random.float();
  if (chance < 0.4) world.name(partition, { leader: heir, standbys, predecessors: standbys });
  else if (chance < 0.6) world.name(partition, { leader: heir, standbys });
  else if (chance < 0.8) await victim.restart();
  else if (chance < 0.85) victim.disk.applyFailures.push(new Error('disk gone'));
  else if (chance < 0.9) {
    const kept = await copyOf(victim.disk.stored(id));
    await world.time.pass(random.float() * 30);
    victim.disk.failWrites(id, kept);
  } else {
    victim.lease(random.float() < 0.5 ? 'lapsed' : 'lost');
    world.time.after(random.float() * 500, () => {
      victim.readTable();
      victim.lease('held');
    });
  }
}

/** As the controller does: whoever does not lead is named again. */
async function settle(world: HostingWorld): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await world.time.pass(20_000);
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const id = world.partition(partition);
      const report = (await world.leaderOf(id)?.hosting.reports())?.get(id);
      if (report?.phase === 'leader') continue;
      const epoch = (report?.logEpoch ?? 0n) + 1n;
      const known = world.table.partitions[partition]?.epoch ?? 0n;
      const later = epoch > known ? epoch : known + 1n;
      world.name(partition, { leader: 'a', standbys: ['b', 'c'], epoch: later });
    }
  }
}

describe('leaders that change', () => {
  it.each(Array.from({ length: 8 }, (_, index) => index + 1))(
    'add exactly once per call, seed %d',
    async (seed) => {
      const random = seededRandom(seed);
      const nodes = NODES;
      const world = await HostingWorld.start({ schema, nodes, partitionCount: PARTITIONS });
      world.deployment.on('Greeter/ask', (stream) => {
        ask(stream, world.time.now());
      });
      world.deployment.on('Counter/add', add);
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        const leader = NODES[partition] ?? 'a';
        world.name(partition, { leader, standbys: NODES.filter((name) => name !== leader) });
      }
      const asks = [];
      for (let turn = 0; turn < 40; turn += 1) {
        asks.push(world.invoke('Greeter/ask'));
        await world.time.pass(random.float() * 60);
        await oneOf(world, random);
      }
      await settle(world);
      await world.time.pass(300_000);
      expect(asks.map(({ text }) => text)).toEqual(asks.map(() => 'ok'));
      const total = world.invoke('Counter/k/add');
      await world.time.pass(1_000);
      expect(total.text).toBe(String(asks.length + 1));
      expect([...world.nodes.values()].flatMap(({ fatal }) => fatal)).toEqual([]);
    },
  );
});
