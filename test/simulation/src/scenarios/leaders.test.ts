/** Stories of leaders: those that are replaced, that come back, and that wait (docs/design/leadership.md). */

import { describe, expect, it } from '@jest/globals';
import { toPartitionId, type PartitionAnswer } from '@engine/domain';
import type { MessageBatch } from '@engine/wire';

import { DOCUMENTS } from '../cluster/documents.js';
import { LOG_SERVERS } from '../cluster/log-servers.js';
import type { Json } from '../deployment/handler-context.js';
import type { WorkerNode } from '../cluster/worker-node.js';
import type { Outcome } from '../workloads/client.js';
import { numbersForgotten, readsWithoutAppend, refusalsIgnored, seatsKept } from './broken-rules.js';
import { Story } from './story.js';

const PARTITION = toPartitionId(0);
const OTHER = toPartitionId(1);

const WORDS = Array.from({ length: 9 }, (_, index) => `word ${String(index)}`);

/** Longer than a lease. */
const FREEZE_MS = 25_000;

describe('zombie-thaw', () => {
  /** What the process did since: answers that say something, and attempts that it began. */
  const deedsOf = (story: Story, process: string, since: number): readonly string[] =>
    [...story.lines('answer ', `by ${process}`), ...story.lines('attempt ', `in ${process}`)]
      .filter((line) => Number(line.split(' ', 1)[0]) > since)
      .filter((line) => !/ (?:not-leader|stopping) by /.test(line));

  interface Zombie {
    readonly zombie: WorkerNode;
    readonly thawedAt: number;
    readonly calls: readonly Promise<Outcome>[];
    readonly read: Promise<PartitionAnswer>;
  }

  /** A leader is frozen past its lease with a running attempt, a retry that falls due, a read, and messages that nobody acknowledged. */
  async function thaw(story: Story): Promise<Zombie> {
    const { world, client, tally, stage } = story;
    const zombie = story.leader(PARTITION);
    const other = story.leader(OTHER);
    expect(other).not.toBe(zombie);
    const steps = { service: 'Steps', handler: 'run' };
    const running = client.call(steps, { count: 40 }, story.idWithin(PARTITION, steps));
    const flaky = { service: 'Fails', handler: 'flaky' };
    const tries = { tag: 'retry', failures: 9 };
    const retrying = client.call(flaky, tries, story.idWithin(PARTITION, flaky));
    story.around.links.cut(zombie.id, other.id);
    const fan = { service: 'Fan', handler: 'out' };
    const { key = '' } = story.within(OTHER, { service: 'Log', handler: 'append' });
    tally.expectLines(key, 'fan', 6);
    const sending = client.call(
      fan,
      { key, from: 'fan', count: 6 },
      story.idWithin(PARTITION, fan),
    );
    await story.until('a retry and messages wait', () => {
      const hasRetried = story.lines('run ', 'flaky').length > 1;
      return hasRetried && story.lines('messages 0→1').length > 0;
    });
    const read = client.output(story.idWithin(PARTITION, steps));
    world.freeze(zombie);
    await story.pass(FREEZE_MS);
    story.around.links.mendAll();
    await story.served();
    expect(story.leader(PARTITION)).not.toBe(zombie);
    const thawedAt = stage.loop.now;
    zombie.thaw();
    await story.pass(1_000);
    return { zombie, thawedAt, calls: [running, retrying, sending], read };
  }

  it.each([1, 2, 3])(
    'a leader wakes with a due retry, a read, a resend and a running attempt: nobody sees it, seed %i',
    async (seed) => {
      const story = await Story.begin({ seed, workMs: 900, client: { askAgainMs: 600_000 } });
      const { tally, client, stage } = story;
      const { zombie, thawedAt, calls, read } = await thaw(story);
      expect(zombie.worker?.runningCount).toBe(0);
      await story.pass(10_000);
      expect(deedsOf(story, zombie.process?.name ?? '', thawedAt)).toEqual([]);
      const values = [];
      for (const call of calls) values.push(await story.value(call));
      expect(values).toEqual([Array.from({ length: 40 }, (_, step) => step), 'at last', null]);
      expect((await story.done(read)).kind).toBe('not-found');
      await story.done(tally.check(client, stage.loop.now + 120_000));
      expect(await story.end()).toEqual([]);
    },
  );

  it('would be seen, if it went by what it believes and not by its lease and the log', async () => {
    const hooks = { seats: seatsKept, log: refusalsIgnored };
    const story = await Story.begin({ workMs: 900, client: { askAgainMs: 600_000 }, hooks });
    const { zombie, thawedAt } = await thaw(story);
    await story.pass(10_000);
    expect(deedsOf(story, zombie.process?.name ?? '', thawedAt)).not.toEqual([]);
    expect(story.breakOff().join()).toContain('which is not in the log');
  });
});

describe('a leader on an island', () => {
  const STEPS = { service: 'Steps', handler: 'run', idempotencyKey: 'steps' };
  const SLOW = { partitions: 1, workMs: 1_500 };

  /**
   * A leader and an ingress see each other and the logs, and nobody else: neither learns that another leads. The ingress asks the old
   * leader for what has ended under the new one. Gives the answer that a caller gets in the end.
   */
  async function readOnIsland(story: Story): Promise<string> {
    const { world, client } = story;
    const [ingress] = world.ingresses;
    const old = story.leader(PARTITION);
    if (ingress === undefined) throw new Error('there is an ingress');
    const id = client.idFor(STEPS);
    const running = client.call(STEPS, { count: 12 }, id);
    await story.until('it runs', () => story.lines('run ').length > 0);
    for (const inside of [old, ingress]) {
      story.around.links.cut(inside.id, DOCUMENTS);
      for (const { id: outside } of world.nodes) {
        if (outside !== old.id && outside !== ingress.id) story.around.links.cut(inside.id, outside);
      }
    }
    await story.until('it has ended elsewhere', () => {
      return world.truth.state(PARTITION).invocation(id)?.status === 'completed';
    });
    const request = { kind: 'attach', requestId: 'look', invocationId: id, blocking: false } as const;
    world.checks.asked(request);
    const reading = new Promise<string>((resolve) => {
      ingress.send(request, ({ kind }) => {
        resolve(kind);
      }, () => undefined);
    });
    await story.until('the old leader is asked', () => story.lines(`${old.id}/1 takes look`).length > 0);
    await story.pass(3_000);
    story.around.links.mendAll();
    await story.value(running);
    return story.done(reading);
  }

  it('does not answer a read: its append is refused first', async () => {
    const story = await Story.begin(SLOW);
    expect(await readOnIsland(story)).toBe('result');
    expect(await story.end()).toEqual([]);
  });

  it('would answer with what is no longer true, if reads needed no append', async () => {
    const story = await Story.begin({ ...SLOW, hooks: { seats: readsWithoutAppend } });
    expect(await readOnIsland(story)).toBe('not-ready');
    expect(story.breakOff().join()).toContain('a stale read');
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
    story.around.documents.isUp = false;
    story.around.servers.isUp = false;
    for (let passed = 0; passed < ms + 5_000; passed += 100) {
      await story.pass(100);
      if (passed === ms) {
        story.around.documents.isUp = true;
        story.around.servers.isUp = true;
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
  interface Crossfire {
    readonly story: Story;
    /** Every batch that a worker got, oldest first. */
    readonly batches: readonly MessageBatch[];
  }

  /** Four workers: one sends, another receives, a third takes the sender's place. */
  async function begin(
    seed: number,
    change: (batch: MessageBatch, story: Story | undefined) => MessageBatch = (batch) => batch,
  ): Promise<Crossfire> {
    for (let next = seed; ; next += 10) {
      const batches: MessageBatch[] = [];
      const begun: { story?: Story } = {};
      const batch = (got: MessageBatch): MessageBatch => {
        batches.push(got);
        return change(got, begun.story);
      };
      const story = await Story.begin({ seed: next, shape: { workers: 4 }, hooks: { batch } });
      begun.story = story;
      const places = [story.leader(PARTITION), story.standby(PARTITION), story.leader(OTHER)];
      if (new Set(places).size === places.length) return { story, batches };
      story.breakOff();
    }
  }

  /**
   * The sender is cut off from documents and logs, so that it does not learn that it was replaced, and goes on sending what nobody
   * acknowledged; its successor sends the same, while the receiver changes its leader. In the end copies of all of it come once more, as
   * a network may have kept them. Gives what the listener heard.
   */
  async function crossfire({ story, batches }: Crossfire): Promise<Json> {
    const { world, client, tally, stage } = story;
    const [sender, receiver] = [story.leader(PARTITION), story.leader(OTHER)];
    const old = sender.process?.name ?? '';
    story.around.links.cut(sender.id, receiver.id);
    const { key = '' } = story.within(OTHER, { service: 'Log', handler: 'append' });
    const fan = { service: 'Fan', handler: 'out' };
    const sending = [0, 1].map((index) => {
      const from = `fan-${String(index)}`;
      tally.expectLines(key, from, 9);
      return client.call(fan, { key, from, count: 9 }, story.idWithin(PARTITION, fan));
    });
    // Words that come twice would be heard twice.
    const awaiter = { service: 'Awaiter', handler: 'listen' };
    const ear = { tag: 'ear', count: WORDS.length };
    const listening = client.call(awaiter, ear, story.idWithin(OTHER, awaiter));
    const target = await story.done(stage.lab.mail('ear'));
    const speak = { service: 'Awaiter', handler: 'speak' };
    const words = { target, words: WORDS };
    sending.push(client.call(speak, words, story.idWithin(PARTITION, speak)));
    await story.until('words wait', () => story.lines('messages 0→1', 'signal').length > 2);
    story.around.links.cut(sender.id, DOCUMENTS);
    story.around.links.cut(sender.id, LOG_SERVERS);
    await story.until('there is a new sender', () => {
      const leader = world.picture.leaderOf(PARTITION);
      return leader !== undefined && leader !== sender;
    });
    const since = stage.loop.now;
    story.around.links.mend(sender.id, receiver.id);
    receiver.kill('killed');
    await story.until('the old sender sends again', () =>
      story.lines('messages 0→1', `by ${old}`).some((line) => Number(line.split(' ', 1)[0]) > since),
    );
    receiver.start();
    await story.pass(2_000);
    story.around.links.mendAll();
    await story.served();
    const { door, process } = story.leader(OTHER);
    const copies = batches.filter(({ destination }) => destination === OTHER).reverse();
    for (const copy of copies) process?.guarded(() => door?.deliver(copy, () => undefined))();
    for (const call of sending) await story.value(call);
    const heard = await story.value(listening);
    await story.done(tally.check(client, stage.loop.now + 120_000), 200_000);
    return heard;
  }

  it.each([1, 2, 3])('every message takes effect once and in its order, seed %i', async (seed) => {
    const fire = await begin(seed);
    expect(await crossfire(fire)).toEqual(WORDS);
    expect(await fire.story.end()).toEqual([]);
  });

  it('a receiver that does not go by the numbers is found out', async () => {
    const fire = await begin(1, (batch, story) =>
      story === undefined ? batch : numbersForgotten(batch, story.world.truth),
    );
    await crossfire(fire).catch(() => undefined);
    await fire.story.world.look();
    expect(fire.story.breakOff().join()).toContain('applied messages that were never sent');
  });
});

describe('resend-after-end', () => {
  const SINGLE = { service: 'Steps', handler: 'single' };

  /** The end of a call is durable, its answer is lost with its leader, and the caller's ingress asks the next one. */
  async function answerLost(story: Story, waitMs: number): Promise<unknown> {
    const { world, client } = story;
    const leader = story.leader(PARTITION);
    const id = story.idWithin(PARTITION, SINGLE);
    const calling = client.call(SINGLE, { tag: 'single' }, id);
    await story.until('the step has run', () => story.lines('run ', 'count').length > 0);
    for (const ingress of world.ingresses) story.around.links.cut(ingress.id, leader.id);
    await story.until('the end is durable', () => {
      return world.truth.state(PARTITION).invocation(id)?.status === 'completed';
    });
    await story.pass(waitMs);
    leader.kill('killed');
    story.around.links.mendAll();
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
