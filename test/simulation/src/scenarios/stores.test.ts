/** Stories of stores: what a disk may lose, and what versions of the server may make of one log (docs/design/log-and-epochs.md). */

import { describe, expect, it } from '@jest/globals';
import { toPartitionId, type FormatRange } from '@engine/domain';
import { CLUSTER_DOCUMENT, decodeCluster } from '@engine/metadata';

import type { LogTruth } from '../cluster/log-truth.js';
import type { WorkerNode } from '../cluster/worker-node.js';
import { gapsHidden, type Store } from './broken-rules.js';
import { Story, type StoryOptions } from './story.js';

const PARTITION = toPartitionId(0);
const ADD = { service: 'Counter', handler: 'add' };

/** So many additions to one counter of the partition, one after the other. */
async function add(story: Story, count: number): Promise<void> {
  const callee = story.within(PARTITION, ADD);
  const { tally, client } = story;
  for (let index = 0; index < count; index += 1) {
    tally.adding('Counter', callee.key ?? '');
    const value = await story.value(client.call(callee, { sleepMs: 0, steps: 1 }));
    tally.added('Counter', callee.key ?? '', (value as { readonly after: number }).after);
  }
}

async function count(story: Story): Promise<void> {
  const { tally, client, stage } = story;
  await story.done(tally.check(client, stage.loop.now + 120_000));
}

describe('power-cut-store', () => {
  /** Cuts the power of a node until its store of the partition has lost records from its middle. */
  async function losing(story: Story, node: WorkerNode): Promise<void> {
    for (let round = 0; round < 20; round += 1) {
      await add(story, 6);
      const { lost } = node.cutPower();
      node.start();
      await story.pass(5_000);
      if (lost > 0 && story.lines('restores', node.id).length > 0) return;
    }
    throw new Error('the disk kept everything');
  }

  it('the older write-ahead file is lost, the newer kept: the gap is found, the store restored from snapshot and log, and good to lead', async () => {
    const story = await Story.begin();
    const { world } = story;
    const standby = story.standby(PARTITION);
    await add(story, 4);
    await story.done(standby.snapshot(PARTITION));
    await losing(story, standby);
    await story.until('the store has all of the log again', () => world.picture.isAtRest);
    story.leader(PARTITION).kill('killed');
    await add(story, 3);
    await story.served();
    expect(story.leader(PARTITION)).toBe(standby);
    await count(story);
    expect(await story.end()).toEqual([]);
  });

  it('without a snapshot the store is filled from the log alone', async () => {
    const story = await Story.begin();
    await losing(story, story.standby(PARTITION));
    await count(story);
    expect(await story.end()).toEqual([]);
  });

  it('a store that does not look for gaps is found out by its rows', async () => {
    const known: { truth?: LogTruth } = {};
    const hooks = { store: (store: Store) => gapsHidden(store, () => known.truth) };
    const story = await Story.begin({ hooks });
    known.truth = story.world.truth;
    const standby = story.standby(PARTITION);
    for (let round = 0; round < 5 && story.violations.length === 0; round += 1) {
      await add(story, 6);
      standby.cutPower();
      standby.start();
      await story.pass(10_000);
      await story.world.look();
    }
    expect(story.breakOff().join()).toContain('holds other rows than the log says');
  });

  it('a write that fails ends nothing but the part of that store: another leads, and what was acknowledged is there', async () => {
    const story = await Story.begin();
    const { world } = story;
    const leader = story.leader(PARTITION);
    await add(story, 3);
    leader.disk.fail();
    const failing = add(story, 1);
    const ms = await story.until('another leads', () => {
      const now = world.picture.leaderOf(PARTITION);
      return now !== undefined && now !== leader;
    });
    expect(ms).toBeLessThan(15_000);
    leader.kill('its disk failed');
    leader.start();
    await story.done(failing);
    await count(story);
    expect(await story.end()).toEqual([]);
  });
});

describe('mixed-version-failover', () => {
  /** The older binary decides otherwise than the newer: other retention, retries and limits go into the rows that it writes. */
  const OLD = 'w0';
  const mixed = (formats: ReadonlyMap<string, FormatRange>): StoryOptions => ({
    hooks: {
      formatsOf: (node) => formats.get(node) ?? { min: 1, max: 2 },
      optionsOf: (node, options) => {
        if (node !== OLD) return options;
        const { invoker } = options;
        const retryPolicy = { ...invoker.retryPolicy, initialIntervalMs: 333 };
        return { ...options, timersInMemoryMax: 2, invoker: { ...invoker, retryPolicy } };
      },
    },
  });

  it('N and N−1 swap the leadership under load: replicas stay equal, because the log says what is stored and not what was decided', async () => {
    const formats = new Map([[OLD, { min: 1, max: 1 }]]);
    const story = await Story.begin({ ...mixed(formats), shape: { workers: 2 } });
    const { world, client } = story;
    const flaky = { service: 'Fails', handler: 'throwing' };
    const naps = { service: 'Sleeper', handler: 'nap' };
    const versions = new Set<string>();
    const calls = [];
    for (let swap = 0; swap < 6; swap += 1) {
      const leader = story.leader(PARTITION);
      versions.add(leader.id === OLD ? 'old' : 'new');
      calls.push(
        client.call(flaky, { tag: `flaky-${String(swap)}`, failures: 3 }, story.idWithin(PARTITION, flaky)),
        client.call(naps, { naps: [900, 20_000] }, story.idWithin(PARTITION, naps)),
      );
      await add(story, 3);
      leader.kill('killed');
      // Long enough for the other to lead.
      await story.pass(6_000);
      leader.start();
      await story.until('the cluster is at rest', () => world.picture.isAtRest);
    }
    expect(versions).toEqual(new Set(['old', 'new']));
    for (const call of calls) await story.value(call);
    await count(story);
    expect(formatOf(story)).toBe(1);
    expect(await story.end()).toEqual([]);
  });

  it('the format is raised once every node reads the next, and an older binary is then refused', async () => {
    const formats = new Map([[OLD, { min: 1, max: 1 }]]);
    const story = await Story.begin(mixed(formats));
    const { world } = story;
    const old = world.workers[0];
    await story.pass(40_000);
    expect(formatOf(story)).toBe(1);
    old?.kill('upgraded');
    formats.delete(OLD);
    old?.start();
    await story.until('the format is raised', () => formatOf(story) === 2);
    await add(story, 2);
    old?.kill('downgraded');
    formats.set(OLD, { min: 1, max: 1 });
    old?.start();
    await story.pass(5_000);
    expect(old?.isUp).toBe(false);
    expect(story.lines('w0', 'the cluster writes format 2').length).toBeGreaterThan(0);
    await add(story, 2);
    await count(story);
    formats.delete(OLD);
    expect(await story.end()).toEqual([]);
  });

  function formatOf(story: Story): number {
    const entry = story.around.documents.peek(CLUSTER_DOCUMENT);
    return entry === undefined ? 0 : decodeCluster(entry.value).formatVersion;
  }
});
