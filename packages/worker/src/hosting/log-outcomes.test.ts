/** What a log answers to a leader, or to one who would be, and what becomes of it. */

import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';
import type { Candidate, SharedLog } from '@engine/log';

import { HostingWorld } from '../testing/hosting-world.js';
import { schemaOf, service } from '../testing/test-worker.js';

const schema = schemaOf(service('Greeter', 'service', ['greet']));
const P0 = toPartitionId(0);

async function start(...nodes: readonly string[]): Promise<HostingWorld> {
  const world = await HostingWorld.start({ schema, nodes });
  world.deployment.on('Greeter/greet', (stream) => {
    stream.finish('hello');
  });
  return world;
}

describe('what the log tells a leader', () => {
  /** The log of a node with another outcome of its take-overs. */
  function overridden(log: SharedLog, takeOver: SharedLog['takeOver'], clockOffMs = 0): SharedLog {
    return {
      end: () => log.end(),
      follow: async (request) => {
        const outcome = await log.follow(request);
        return outcome.kind === 'at-end' ? { ...outcome, clockOffMs } : outcome;
      },
      takeOver,
      trim: (sequence) => log.trim(sequence),
    };
  }

  it('a log that takes nothing any more makes it stuck, until it takes something', async () => {
    const world = await start('a');
    let onHealth: Candidate['onHealth'];
    world.node('a').logOf = (log) =>
      overridden(log, (candidate) => {
        ({ onHealth } = candidate);
        return log.takeOver(candidate);
      });
    world.name(0, { leader: 'a' });
    await world.time.pass(1_000);
    const isStuck = async (): Promise<boolean | undefined> =>
      (await world.node('a').hosting.reports()).get(P0)?.isStuck;
    expect(await isStuck()).toBe(false);
    onHealth?.({ kind: 'refused', why: 'no space' });
    await world.time.pass(30_000);
    expect(await isStuck()).toBe(false);
    onHealth?.({ kind: 'silent', forMs: 15_000 });
    await world.time.pass(1_000);
    expect(await isStuck()).toBe(true);
    onHealth?.({ kind: 'ok' });
    expect(await isStuck()).toBe(false);
  });

  it('a node whose clock is off does not lead, and says why', async () => {
    const world = await start('a', 'b');
    world.name(0, { leader: 'b', standbys: ['a'] });
    await world.time.pass(1_000);
    world.node('a').logOf = (log) =>
      overridden(log, () => Promise.resolve({ kind: 'clock-off', byMs: 3_000 }), 3_000);
    await world.node('a').restart();
    world.name(0, { leader: 'a', predecessors: ['b'] });
    await world.time.pass(2_000);
    expect((await world.node('a').hosting.reports()).get(P0)).toMatchObject({
      phase: 'follower',
      fault: 'clock',
    });
  });

  it('a take-over that fails is tried again', async () => {
    const world = await start('a');
    let tries = 0;
    world.node('a').logOf = (log) =>
      overridden(log, (candidate) => {
        tries += 1;
        return tries < 3 ? Promise.reject(new Error('no answer')) : log.takeOver(candidate);
      });
    world.name(0, { leader: 'a' });
    const asked = world.invoke('Greeter/greet');
    await world.time.pass(3_000);
    expect(asked.text).toBe('hello');
    expect(tries).toBe(3);
  });
});
