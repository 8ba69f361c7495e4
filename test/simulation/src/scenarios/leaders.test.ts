/** Stories of leaders: those that are replaced, that come back, and that wait (docs/design/leadership.md). */

import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';

import { numbersForgotten } from './broken-rules.js';
import { Story } from './story.js';

const PARTITION = toPartitionId(0);
const OTHER = toPartitionId(1);

/** Longer than a lease. */
const FREEZE_MS = 25_000;

describe('zombie-thaw', () => {
  /** What the process did since: answers that say something, and attempts that it began. */
  const deedsOf = (story: Story, process: string, since: number): readonly string[] =>
    [...story.lines('answer ', `by ${process}`), ...story.lines('attempt ', `in ${process}`)]
      .filter((line) => Number(line.split(' ', 1)[0]) > since)
      .filter((line) => !/ (?:not-leader|stopping) by /.test(line));

  it('a leader that was frozen past its lease wakes with a due retry, a read, a resend and a running attempt: nobody sees it', async () => {
    const story = await Story.begin({ workMs: 900, client: { askAgainMs: 600_000 } });
    const { world, client, tally, stage } = story;
    const zombie = story.leader(PARTITION);
    const other = story.leader(OTHER);
    expect(other).not.toBe(zombie);
    const process = zombie.process?.name ?? '';
    // A running attempt, a retry that falls due, messages that nobody acknowledges, and a read.
    const steps = { service: 'Steps', handler: 'run' };
    const running = client.call(steps, { count: 40 }, story.idWithin(PARTITION, steps));
    const flaky = { service: 'Fails', handler: 'flaky' };
    const retrying = client.call(flaky, { tag: 'retry', failures: 5 }, story.idWithin(PARTITION, flaky));
    world.links.cut(zombie.id, other.id);
    const fan = { service: 'Fan', handler: 'out' };
    const { key = '' } = story.within(OTHER, { service: 'Log', handler: 'append' });
    tally.expectLines(key, 'fan', 6);
    const sending = client.call(fan, { key, from: 'fan', count: 6 }, story.idWithin(PARTITION, fan));
    await story.until('a retry and messages wait', () => {
      return story.lines('messages 0→1').length > 0 && stage.lab.try('retry') > 1;
    });
    const napping = story.idWithin(PARTITION, steps);
    const read = client.output(napping);
    world.freeze(zombie);
    await story.pass(FREEZE_MS);
    world.links.mendAll();
    await story.served();
    expect(story.leader(PARTITION)).not.toBe(zombie);
    const thawedAt = stage.loop.now;
    zombie.thaw();
    await story.pass(1_000);
    expect(zombie.worker?.runningCount).toBe(0);
    await story.pass(10_000);
    expect(deedsOf(story, process, thawedAt)).toEqual([]);
    expect(await story.value(running)).toHaveLength(40);
    expect(await story.value(retrying)).toBe('at last');
    await story.value(sending);
    expect((await story.done(read)).kind).toBe('not-found');
    await story.done(tally.check(client, stage.loop.now + 120_000));
    expect(await story.end()).toEqual([]);
  });
});

describe('kv-blackout', () => {
  /** Documents and logs are gone for so long, while callers call. Gives what came of it. */
  async function blackout(ms: number): Promise<{
    readonly isTableKept: boolean;
    readonly areLeasesHeld: boolean;
    readonly errors: number;
    readonly violations: readonly string[];
  }> {
    const story = await Story.begin({ partitions: 4 });
    const { world, client, tally } = story;
    const before = JSON.stringify(world.picture.table, (_, value: unknown) => String(value));
    const calls = Array.from({ length: 12 }, async (_, index) => {
      const key = `key-${String(index % 4)}`;
      await tally.sleep(index * 700);
      tally.adding('Counter', key);
      const { result } = await client.call({ service: 'Counter', handler: 'add', key }, { sleepMs: 900, steps: 1 });
      if (result.kind === 'success') tally.added('Counter', key, JSON.parse(new TextDecoder().decode(result.value)).after as number);
    });
    let areLeasesHeld = true;
    await story.pass(500);
    world.documents.isUp = false;
    world.servers.isUp = false;
    for (let passed = 0; passed < ms + 5_000; passed += 100) {
      await story.pass(100);
      if (passed === ms) {
        world.documents.isUp = true;
        world.servers.isUp = true;
      }
      areLeasesHeld &&= world.workers.every((node) => node.leaseState === 'held');
    }
    await story.done(Promise.all(calls));
    const after = JSON.stringify(world.picture.table, (_, value: unknown) => String(value));
    return {
      isTableKept: before === after,
      areLeasesHeld,
      errors: world.refusals,
      violations: await story.end(),
    };
  }

  it('metadata and log gone for 8 s: no partition moves, no attempt is aborted, no caller sees an error', async () => {
    expect(await blackout(8_000)).toEqual({
      isTableKept: true,
      areLeasesHeld: true,
      errors: 0,
      violations: [],
    });
  });

  it('gone for longer than leases are held without renewal: attempts are let go, and still no partition moves', async () => {
    expect(await blackout(14_000)).toMatchObject({
      isTableKept: true,
      areLeasesHeld: false,
      violations: [],
    });
  });
});

describe('outbox-crossfire', () => {
  /** Old and new sender resend while the receiver changes its leader. */
  async function crossfire(story: Story): Promise<void> {
    const { world, client, tally, stage } = story;
    const [sender, receiver] = [story.leader(PARTITION), story.leader(OTHER)];
    expect(receiver).not.toBe(sender);
    const { key = '' } = story.within(OTHER, { service: 'Log', handler: 'append' });
    const fan = { service: 'Fan', handler: 'out' };
    // What the receiver acknowledges does not come back, so everything is sent again.
    world.links.cut(sender.id, receiver.id);
    const sending = [0, 1, 2].map((index) => {
      const from = `fan-${String(index)}`;
      tally.expectLines(key, from, 9);
      return client.call(fan, { key, from, count: 9 }, story.idWithin(PARTITION, fan));
    });
    // Words that come twice would be heard twice.
    const awaiter = { service: 'Awaiter', handler: 'listen' };
    const listening = client.call(awaiter, { tag: 'ear', count: 9 }, story.idWithin(OTHER, awaiter));
    const target = await story.done(stage.lab.mail('ear'));
    const words = Array.from({ length: 9 }, (_, index) => `word ${String(index)}`);
    const speak = { service: 'Awaiter', handler: 'speak' };
    sending.push(client.call(speak, { target, words }, story.idWithin(PARTITION, speak)));
    await story.until('messages wait', () => story.lines('messages 0→1', 'signal').length > 2);
    world.freeze(sender);
    await story.until('there is a new sender', () => {
      const leader = world.picture.leaderOf(PARTITION);
      return leader !== undefined && leader !== sender;
    });
    world.links.mendAll();
    receiver.kill('killed');
    sender.thaw();
    await story.pass(300);
    receiver.start();
    await story.served();
    for (const call of sending) await story.value(call);
    expect(await story.value(listening)).toEqual(words);
    await story.done(tally.check(client, stage.loop.now + 120_000), 200_000);
  }

  it.each([1, 2, 3])('every message takes effect once and in its order, seed %i', async (seed) => {
    const story = await Story.begin({ seed, shape: { workers: 4 } });
    await crossfire(story);
    expect(await story.end()).toEqual([]);
  });

  it('a receiver that does not go by the numbers is found out', async () => {
    const story = await Story.begin({
      shape: { workers: 4 },
      hooks: { batch: (batch) => numbersForgotten(batch, story.world.truth) },
    });
    await expect(crossfire(story)).rejects.toThrow();
    story.breakOff();
  });
});

describe('resend-after-end', () => {
  const SINGLE = { service: 'Steps', handler: 'single' };

  /** The end of a call is durable, its answer is lost with its leader, and the caller's ingress asks the next one. */
  async function answerLost(story: Story, waitMs: number): Promise<unknown> {
    const { world, client } = story;
    const leader = story.leader(PARTITION);
    const id = story.idWithin(PARTITION, SINGLE);
    for (const ingress of world.ingresses) world.links.cut(ingress.id, leader.id);
    // The request comes before the links are cut, its answer after.
    world.links.mendAll();
    const calling = client.call(SINGLE, { tag: 'single' }, id);
    await story.until('the step has run', () => story.lines('run ', 'count').length > 0);
    for (const ingress of world.ingresses) world.links.cut(ingress.id, leader.id);
    await story.until('the end is durable', () => {
      return world.truth.state(PARTITION).invocation(id)?.status === 'completed';
    });
    await story.pass(waitMs);
    leader.kill('killed');
    world.links.mendAll();
    return story.value(calling, 400_000);
  }

  it.each([0, 20_000, 150_000])('retention 0, and the answer lost: asked again %i ms later by request id, nothing runs twice', async (waitMs) => {
    const story = await Story.begin({ client: { askAgainMs: 40_000 } });
    expect(await answerLost(story, waitMs)).toBe(1);
    expect(story.lines('run ', 'count').length).toBe(1);
    expect(await story.end()).toEqual([]);
  });

  it('what holds it is the row that stays for five minutes: after that the same request is a new one', async () => {
    const story = await Story.begin({ client: { askAgainMs: 40_000 } });
    expect(await answerLost(story, 400_000)).toBe(2);
    expect(story.breakOff().join()).toContain('answered: twice, and differently');
  });
});
