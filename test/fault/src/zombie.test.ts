/**
 * A leader that was frozen past its lease and wakes: it holds open attempts, due timers, retries and requests of callers, and believes
 * that it leads. It can't append, answer or call.
 */

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { natsServerPath, waitUntil } from '@engine-test/support';

import { Chance } from './chance.js';
import { check } from './checker/check.js';
import { ledBy, membersOf } from './faults/fault.js';
import { LEASE_TTL_MS } from './faults/of-workers.js';
import { History, readHistory } from './history/history.js';
import { Load } from './load/load.js';
import { Probes } from './probes/probes.js';
import { bringToRest } from './rest.js';
import { ServiceHost } from './services/service-host.js';
import { ClusterSystem } from './systems/cluster.js';
import { readCluster } from './systems/cluster-picture.js';
import type { Member } from './systems/system.js';

const SEED = 4;
const UNDER_WAY_ENTRIES = 1_500;
/** Long enough for whatever a thawed process does on waking: due timers, retries, resends, answers. */
const AFTER_THAW_MS = 8_000;

/** A process that waits for events is in a call of the kernel, one that works in none. */
const AT_WORK = '-1';

/**
 * In the middle of a turn a process may have decided to call and not have called yet; that call leaves when it wakes
 * (docs/decisions/0006-a-death-is-written-onto-the-lease.md). So it is frozen while it waits for events.
 */
async function freezeBetweenTurns(member: Member): Promise<void> {
  await waitUntil('the leader is frozen between two turns', async () => {
    member.freeze();
    await pause(20);
    const call = readFileSync(`/proc/${String(member.pid)}/syscall`, 'utf8').split(' ')[0];
    if (call !== AT_WORK && call !== 'running\n') return true;
    member.thaw();
    return false;
  });
}

const describeWithNats = natsServerPath() === undefined ? describe.skip : describe;

describeWithNats('a leader that was frozen past its lease', () => {
  let system: ClusterSystem;
  let history: History;
  let services: ServiceHost[];

  beforeAll(async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'engine-zombie-')), 'history.jsonl');
    history = new History(path);
    const options = { natsCount: 1, workerCount: 2, partitionCount: 4 } as const;
    system = await ClusterSystem.start(options);
    services = await ServiceHost.startAll(history);
    for (const { uri } of services) await system.register(uri);
  }, 120_000);

  afterAll(async () => {
    for (const service of services) await service[Symbol.asyncDispose]();
    await system[Symbol.asyncDispose]();
    await history[Symbol.asyncDispose]();
  });

  async function logEnds(): Promise<readonly number[]> {
    const ids = Array.from({ length: system.partitionCount }, (_, id) => id);
    return Promise.all(ids.map((id) => system.logEnd(id)));
  }

  it('wakes, and nobody hears of it: no attempt, no answer, no record', async () => {
    const probes = await Probes.prepare(system);
    await waitUntil('the cluster is whole', () => system.isWhole(), 60_000);
    const load = new Load(
      { ingressUrls: system.ingressUrls, callers: 16, thinkMs: 100, patienceMs: 120_000 },
      { chance: new Chance(SEED), history },
    );
    await waitUntil('work is under way', () => history.count > UNDER_WAY_ENTRIES, 60_000);

    const leaders = await system.leaders();
    const [zombie] = membersOf(system, 'worker').filter(({ name }) =>
      [...leaders.values()].includes(name),
    );
    if (zombie === undefined) throw new Error('nobody leads');
    const partitions = await ledBy(system, zombie.name);
    const before = (await readCluster([system.adminUrl]))?.partitions;
    await freezeBetweenTurns(zombie);
    using watch = probes.watch(partitions);
    await waitUntil('somebody else serves', () => watch.hasSucceeded, LEASE_TTL_MS * 3);
    watch[Symbol.dispose]();

    await load.stop();
    await waitUntil('awakeables are completed', () => load.isResolved, 30_000);
    await bringToRest(system, history);
    await waitUntil('the logs are at rest', () => isAtRest(logEnds), 30_000);
    // Or it would be given partitions again as soon as it is back.
    await fetch(`${system.adminUrl}/cluster/freeze`, { method: 'POST' });
    const told = history.count;
    const ends = await logEnds();

    zombie.thaw();
    await pause(AFTER_THAW_MS);
    expect(history.count).toBe(told);
    expect(await logEnds()).toEqual(ends);
    const after = await waitUntil(
      'it is a living node again',
      async () => {
        const picture = await readCluster([system.adminUrl]);
        const node = picture?.nodes.find(({ id }) => id === zombie.name);
        return node?.liveness === 'alive' ? picture : undefined;
      },
      60_000,
    );
    for (const id of partitions) {
      const [was, is] = [before?.[id], after.partitions[id]];
      expect(is?.leader).not.toBe(zombie.name);
      expect(BigInt(is?.epoch ?? 0)).toBeGreaterThan(BigInt(was?.epoch ?? 0));
      const own = is?.replicas.find(({ node }) => node === zombie.name);
      expect(['follower', 'idle', undefined]).toContain(own?.phase);
    }

    await fetch(`${system.adminUrl}/cluster/unfreeze`, { method: 'POST' });
    await waitUntil('the cluster is whole with it', () => system.isWhole(), 60_000);
    await history.flush();
    const { violations } = await check(readHistory(history.path));
    expect(violations).toEqual([]);
  }, 300_000);
});

/** Nothing is appended for a second. */
async function isAtRest(logEnds: () => Promise<readonly number[]>): Promise<boolean> {
  const ends = await logEnds();
  await pause(1_000);
  return JSON.stringify(await logEnds()) === JSON.stringify(ends);
}
