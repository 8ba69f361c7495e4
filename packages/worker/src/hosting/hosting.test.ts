/** Partitions that come and go: several workers of one cluster over one log, on virtual time. */

import { describe, expect, it } from '@jest/globals';

import { HostingWorld } from '../testing/hosting-world.js';
import { schemaOf, service } from '../testing/test-worker.js';

const schema = schemaOf(
  service('Greeter', 'service', ['greet', 'fail', 'wait']),
  service('Counter', 'virtual-object', ['add', 'ask']),
);

async function start(...nodes: readonly string[]): Promise<HostingWorld> {
  const world = await HostingWorld.start({ schema, nodes });
  world.deployment.on('Greeter/greet', (stream) => {
    stream.finish('hello');
  });
  return world;
}

describe('hosting', () => {
  it('leads what the table names, and answers', async () => {
    const world = await start('a');
    const asked = world.invoke('Greeter/greet');
    await world.time.pass(1_000);
    expect(asked.text).toBeUndefined();
    world.name(0, { leader: 'a' });
    await world.time.pass(1_000);
    expect(asked.text).toBe('hello');
    expect(world.node('a').hosting.leadsNothing).toBe(false);
  });

  it('takes over after a crash with what the standby has followed', async () => {
    const world = await start('a', 'b');
    world.name(0, { leader: 'a', standbys: ['b'] });
    await world.time.pass(1_000);
    const first = world.invoke('Greeter/greet');
    await world.time.pass(100);
    expect(first.text).toBe('hello');
    world.node('a').kill();
    const second = world.invoke('Greeter/greet');
    world.name(0, { leader: 'b', standbys: ['a'] });
    await world.time.pass(1_000);
    expect(second.text).toBe('hello');
    expect(world.node('b').disk.restores).toBe(0);
  });
});
