/** Stories of appends: what the log's servers may do to a record, and what must come of it (docs/design/log-on-jetstream.md). */

import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';
import { decodeMessage } from '@engine/nats/contract';

import type { Publish } from '../cluster/log-servers.js';
import { Story } from './story.js';

const PARTITION = toPartitionId(0);
const ADD = { service: 'Counter', handler: 'add' };

/** Messages of the partition's stream with these bytes. */
function copiesOf(story: Story, payload: Uint8Array): number {
  const stream = story.world.servers.stream(PARTITION);
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
  story.world.servers.interfere = (publish) => {
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
    expect(story.leader(PARTITION)).not.toBe(leader);
    await story.pass(12_000);
    expect(copiesOf(story, seen.late?.payload ?? new Uint8Array(0))).toBe(0);
    expect(await story.end()).toEqual([]);
  });

  it('the copy comes right before the announcement: the new leader reads it and carries it on', async () => {
    const story = await Story.begin();
    const callee = story.within(PARTITION, ADD);
    const leader = story.leader(PARTITION);
    const { servers } = story.world;
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
    expect(copiesOf(story, late?.payload ?? new Uint8Array(0))).toBe(1);
    expect(story.leader(PARTITION)).not.toBe(leader);
    expect(await story.end()).toEqual([]);
  });

  it('servers that take a late copy whatever it expects are found out', async () => {
    const story = await Story.begin();
    const callee = story.within(PARTITION, ADD);
    const stream = story.world.servers.stream(PARTITION);
    const seen = delayNext(story, story.leader(PARTITION).id, 10 * 60_000);
    await story.value(story.client.call(callee, { sleepMs: 0, steps: 1 }));
    const { late } = seen;
    stream.arrive(late?.payload ?? new Uint8Array(0), stream.last, () => undefined);
    await story.pass(20_000);
    story.world.truth.readAll();
    expect(story.breakOff().join('\n')).toMatch(/log of partition 0 cannot be read/);
  });
});
