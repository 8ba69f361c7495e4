/** Stories of appends: what the log's servers may do to a record, and what must come of it (docs/design/log-on-jetstream.md). */

import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';
import { decodeMessage } from '@engine/nats/contract';

import type { Publish } from '../cluster/log-servers.js';
import { BIG_TEXT_LENGTH } from '../workloads/scripted-service.js';
import { refusalsBelieved } from './broken-rules.js';
import { Story } from './story.js';
import { writePast } from './write-past.js';

const PARTITION = toPartitionId(0);
const ADD = { service: 'Counter', handler: 'add' };

/** Messages of the partition's stream with these bytes. */
function copiesOf(story: Story, payload: Uint8Array): number {
  const stream = story.around.servers.stream(PARTITION);
  const sequences = Array.from({ length: stream.last }, (_, index) => index + 1);
  return sequences.filter((at) => {
    const message = stream.read(at);
    return message !== undefined && Buffer.compare(message.payload, payload) === 0;
  }).length;
}

/** An addition that was counted once, and the records of it. */
async function expectCountedOnce(story: Story, adding: ReturnType<Story['client']['call']>, key: string): Promise<void> {
  expect(await story.value(adding)).toMatchObject({ after: 1 });
  const read = story.client.call({ service: 'Counter', handler: 'read', key }, null);
  expect(await story.value(read)).toBe(1);
}

/** The next record of the partition from this node comes so much later than it was sent. */
function delayNext(story: Story, by: string, ms: number): { readonly late: Publish | undefined } {
  const seen: { late: Publish | undefined } = { late: undefined };
  story.around.servers.interfere = (publish) => {
    if (seen.late !== undefined || publish.by !== by || publish.partition !== PARTITION) return undefined;
    seen.late = publish;
    return { kind: 'delay', ms };
  };
  return seen;
}

describe('late-landing-append', () => {
  it('an append times out, a read shows nothing, the copy sent again lands, then the first comes: one record, one release', async () => {
    const story = await Story.begin();
    const callee = story.within(PARTITION, ADD);
    const leader = story.leader(PARTITION);
    const seen = delayNext(story, leader.id, 4_000);
    const adding = story.client.call(callee, { sleepMs: 0, steps: 1 });
    await expectCountedOnce(story, adding, callee.key ?? '');
    await story.pass(6_000);
    expect(copiesOf(story, seen.late?.payload ?? new Uint8Array(0))).toBe(1);
    expect(story.leader(PARTITION)).toBe(leader);
    expect(story.lines('leads 0 in').length).toBe(1);
    expect(await story.end()).toEqual([]);
  });

  it('the copy comes behind the announcement of a new leader: it is refused, and the caller is answered once', async () => {
    const story = await Story.begin();
    const callee = story.within(PARTITION, ADD);
    const leader = story.leader(PARTITION);
    const seen = delayNext(story, leader.id, 12_000);
    const adding = story.client.call(callee, { sleepMs: 0, steps: 1 });
    await story.until('the record is under way', () => seen.late !== undefined);
    leader.kill('killed');
    await expectCountedOnce(story, adding, callee.key ?? '');
    await story.served();
    expect(story.leader(PARTITION)).not.toBe(leader);
    await story.pass(12_000);
    expect(copiesOf(story, seen.late?.payload ?? new Uint8Array(0))).toBe(0);
    expect(await story.end()).toEqual([]);
  });

  it('the copy comes right before the announcement: the new leader reads it and carries it on', async () => {
    const story = await Story.begin();
    const callee = story.within(PARTITION, ADD);
    const leader = story.leader(PARTITION);
    const { servers } = story.around;
    const stream = servers.stream(PARTITION);
    const seen = delayNext(story, leader.id, 10 * 60_000);
    const adding = story.client.call(callee, { sleepMs: 0, steps: 1 });
    await story.until('the record is under way', () => seen.late !== undefined);
    leader.kill('killed');
    const { late } = seen;
    let hasLanded = false;
    servers.interfere = ({ by, partition, payload }) => {
      const isOther = partition !== PARTITION || by === leader.id;
      if (hasLanded || isOther || !decodeMessage(payload).isAnnouncement) return undefined;
      hasLanded = true;
      stream.arrive(late?.payload ?? payload, late?.expectedLast ?? 0, () => undefined);
      return undefined;
    };
    await expectCountedOnce(story, adding, callee.key ?? '');
    await story.served();
    expect(copiesOf(story, late?.payload ?? new Uint8Array(0))).toBe(1);
    expect(story.leader(PARTITION)).not.toBe(leader);
    expect(await story.end()).toEqual([]);
  });

  it('servers that take a late copy whatever it expects are found out', async () => {
    const story = await Story.begin();
    const callee = story.within(PARTITION, ADD);
    const stream = story.around.servers.stream(PARTITION);
    const seen = delayNext(story, story.leader(PARTITION).id, 10 * 60_000);
    await story.value(story.client.call(callee, { sleepMs: 0, steps: 1 }));
    const { late } = seen;
    stream.arrive(late?.payload ?? new Uint8Array(0), stream.last, () => undefined);
    await story.pass(20_000);
    story.world.truth.readAll();
    expect(story.breakOff().join('\n')).toMatch(/log of partition 0 cannot be read/);
  });
});

describe('phantom-conflict', () => {
  /** A proposal of nobody keeps appends out until the stream changes its leader, which drops it. */
  async function phantom(story: Story): Promise<readonly string[]> {
    const callee = story.within(PARTITION, ADD);
    const stream = story.around.servers.stream(PARTITION);
    stream.proposePhantom();
    const adding = story.client.call(callee, { sleepMs: 0, steps: 1 });
    await story.pass(3_000);
    stream.changeLeader();
    await expectCountedOnce(story, adding, callee.key ?? '');
    return story.end();
  }

  it('a refusal against what is then dropped moves nobody: one record, one release, the same leader', async () => {
    const story = await Story.begin();
    const leader = story.leader(PARTITION);
    expect(await phantom(story)).toEqual([]);
    expect(story.leader(PARTITION)).toBe(leader);
    expect(story.lines('leads 0 in').length).toBe(1);
  });

  it('a leader that believes a refusal steps down for nobody', async () => {
    const story = await Story.begin({ hooks: { stream: refusalsBelieved } });
    await phantom(story);
    expect(story.lines('leads 0 in').length).toBeGreaterThan(1);
  });
});

describe('torn-record', () => {
  const SMALL = { shape: { payloadBytesMax: 2_000 } };
  const BIG = { service: 'Echo', handler: 'big' };

  /** Kills the leader when it sends part `part` of a record. */
  function tearAt(story: Story, part: number): { readonly isTorn: boolean } {
    const seen = { isTorn: false };
    const leader = story.leader(PARTITION);
    story.around.servers.interfere = ({ by, partition, payload }) => {
      const isOurs = by === leader.id && partition === PARTITION && !seen.isTorn;
      if (!isOurs || decodeMessage(payload).part !== part) return undefined;
      seen.isTorn = true;
      leader.kill('killed between parts');
      return { kind: 'lose' };
    };
    return seen;
  }

  it.each([1, 2, 4])('a leader dies before part %i: what it began is void, and the caller is answered once', async (part) => {
    const story = await Story.begin(SMALL);
    const dead = story.leader(PARTITION);
    const seen = tearAt(story, part);
    const calling = story.client.call(BIG, null, story.idWithin(PARTITION, BIG));
    await story.until('the record is torn', () => seen.isTorn);
    expect(String(await story.value(calling)).length).toBe(BIG_TEXT_LENGTH);
    await story.served();
    expect(story.leader(PARTITION)).not.toBe(dead);
    dead.start();
    expect(await story.end()).toEqual([]);
  });

  it('snapshot, trim and restart in between: an empty worker restores what stands before the tear, and follows over it', async () => {
    const story = await Story.begin(SMALL);
    const { world } = story;
    const [dead, standby, empty] = [story.leader(PARTITION), story.standby(PARTITION), story.bystander(PARTITION)];
    for (let round = 0; round < 2; round += 1) {
      await story.value(story.client.call(story.within(PARTITION, ADD), { sleepMs: 0, steps: 1 }));
      await story.pass(500);
      await story.done(standby.snapshot(PARTITION));
    }
    expect(story.around.servers.stream(PARTITION).state().first).toBeGreaterThan(1);
    const seen = tearAt(story, 3);
    const calling = story.client.call(BIG, null, story.idWithin(PARTITION, BIG));
    await story.until('the record is torn', () => seen.isTorn);
    // Both that are left know the torn parts, and start anew before anybody announces himself.
    standby.kill('restarted');
    empty.kill('restarted');
    await story.pass(500);
    standby.start();
    empty.start();
    expect(String(await story.value(calling)).length).toBe(BIG_TEXT_LENGTH);
    await story.done(standby.snapshot(PARTITION));
    await story.pass(60_000);
    expect(world.picture.standbysOf(PARTITION)).toEqual([empty]);
    dead.start();
    expect(await story.end()).toEqual([]);
  });

  it('servers that take a part behind the announcement that voids it are found out', async () => {
    const story = await Story.begin(SMALL);
    const stream = story.around.servers.stream(PARTITION);
    let lost: Publish | undefined;
    const leader = story.leader(PARTITION);
    story.around.servers.interfere = (publish) => {
      const isOurs = publish.by === leader.id && publish.partition === PARTITION;
      if (!isOurs || lost !== undefined || decodeMessage(publish.payload).part !== 2) return undefined;
      lost = publish;
      leader.kill('killed between parts');
      return { kind: 'lose' };
    };
    const calling = story.client.call(BIG, null, story.idWithin(PARTITION, BIG));
    await story.value(calling);
    stream.arrive(lost?.payload ?? new Uint8Array(0), stream.last, () => undefined);
    await story.pass(5_000);
    story.world.truth.readAll();
    expect(story.breakOff().join('\n')).toMatch(/log of partition 0 cannot be read/);
  });
});

describe('lost-acked-tail', () => {
  const LOST = 3;

  /** The newest records of the partition are gone, and its leader with them. */
  async function loseTail(story: Story): Promise<void> {
    const { world } = story;
    const callee = story.within(PARTITION, ADD);
    for (let round = 0; round < 3; round += 1) {
      await story.value(story.client.call(callee, { sleepMs: 0, steps: 1 }));
    }
    await story.until('the standby has it all', () => world.picture.isAtRest);
    story.leader(PARTITION).kill('killed');
    world.truth.forget(PARTITION);
    story.around.servers.stream(PARTITION).loseTail(LOST);
  }

  const faults = (story: Story): readonly (string | undefined)[] =>
    story.world.workers.map((node) => story.world.picture.report(node, PARTITION)?.fault);

  it('a standby that has what the log lost is ahead, and nobody leads', async () => {
    const story = await Story.begin();
    await loseTail(story);
    const before = story.around.servers.stream(PARTITION).last;
    await story.pass(120_000);
    expect(story.world.picture.leaderOf(PARTITION)).toBeUndefined();
    expect(faults(story)).toContain('ahead');
    expect(story.around.servers.stream(PARTITION).last).toBe(before);
    expect(story.breakOff()).toEqual([]);
  });

  it('others write past the place: who had the records applies nothing of that', async () => {
    const story = await Story.begin();
    const { world } = story;
    const standby = story.standby(PARTITION);
    await loseTail(story);
    await writePast(story, PARTITION, 2 * LOST);
    const before = await world.workers.find((node) => node === standby)?.control?.applied(PARTITION);
    await story.pass(120_000);
    expect(world.picture.leaderOf(PARTITION)).not.toBe(standby);
    expect(world.picture.report(standby, PARTITION)?.fault).toBe('other-branch');
    expect(world.picture.report(standby, PARTITION)?.applied ?? before?.sequence).toBe(before?.sequence);
    expect(story.breakOff()).toEqual([]);
  });

  it('a candidate that has less asks the others, and does not lead', async () => {
    const story = await Story.begin();
    const { world } = story;
    const behind = story.bystander(PARTITION);
    await loseTail(story);
    await story.pass(150_000);
    expect(faults(story)).toContain('tail-lost');
    expect(world.picture.report(behind, PARTITION)?.phase).not.toBe('leader');
    expect(world.picture.leaderOf(PARTITION)).toBeUndefined();
    expect(story.breakOff()).toEqual([]);
  });

  it('the question is what holds it: a candidate that reaches nobody leads without them', async () => {
    const story = await Story.begin();
    const { world } = story;
    const [standby, behind] = [story.standby(PARTITION), story.bystander(PARTITION)];
    story.around.links.cut(standby.id, behind.id);
    await loseTail(story);
    await story.until('the candidate leads', () => world.picture.leaderOf(PARTITION) === behind);
    expect(story.breakOff().join()).toContain('which is not in the log');
  });
});
