/**
 * Whole clusters on a virtual clock: controllers, workers, a metadata store and a log, under faults from a seed. A failure prints its
 * seed and the last of its trace; `CLUSTER_SEED=7` runs that one, `CLUSTER_SEEDS=2000` runs so many.
 */

import { describe, expect, it } from '@jest/globals';
import { NO_ORDERS, type NodeId } from '@engine/domain';

import { SimCluster, type ClusterOptions } from './testing/sim/cluster.js';
import { disturb } from './testing/sim/faults.js';

const SEEDS = Number(process.env['CLUSTER_SEEDS'] ?? 30);
const ONLY = process.env['CLUSTER_SEED'];
const DEFAULTS = { workerCount: 4, adminCount: 2, partitionCount: 6 };

/** From a healthy world on: two TTLs, and what a node that was passed over waits. */
const REST_MS_MAX = 120_000;
/** Two TTLs, and the steps of a take-over. */
const SERVICE_MS_MAX = 45_000;

/** Clusters of all sizes, by seed. */
function sizeOf(seed: number): Omit<ClusterOptions, 'seed'> {
  return {
    workerCount: 2 + (seed % 4),
    adminCount: 1 + (seed % 3),
    partitionCount: 3 + (seed % 10),
    tuning: { standbyCount: seed % 7 === 0 ? 0 : 1 + (seed % 2) },
  };
}

function begun(options: Partial<ClusterOptions> & { readonly seed: number }): SimCluster {
  const cluster = new SimCluster({ ...DEFAULTS, ...options });
  cluster.start();
  must(cluster, cluster.world.runUntilTrue(() => cluster.isAtRest, 60_000) !== undefined, 'begins');
  return cluster;
}

function must(cluster: SimCluster, holds: boolean, what: string): void {
  if (holds && cluster.world.violations.length === 0) return;
  const seen = [what, ...cluster.world.violations, ...cluster.world.trace];
  throw new Error(seen.join('\n'));
}

/** How long until every partition is served again, in ms. */
function untilServed(cluster: SimCluster, limitMs: number): number {
  const ms = cluster.world.runUntilTrue(() => cluster.isServed, limitMs);
  must(cluster, ms !== undefined, `every partition is served within ${limitMs} ms`);
  return ms ?? limitMs;
}

describe('a cluster under faults', () => {
  const seeds =
    ONLY === undefined ? Array.from({ length: SEEDS }, (_, seed) => seed) : [Number(ONLY)];
  it.each(seeds)('keeps SIM-1 to SIM-3 and comes to rest, seed %i', (seed) => {
    const cluster = new SimCluster({ seed, ...sizeOf(seed) });
    cluster.start();
    disturb(cluster, 90_000);
    cluster.world.runUntil(100_000);
    cluster.heal();
    const at = `CLUSTER_SEED=${seed}`;
    const served = cluster.world.runUntilTrue(() => cluster.isServed, SERVICE_MS_MAX);
    must(cluster, served !== undefined, `${at} is served within ${SERVICE_MS_MAX} ms`);
    // What the faults left behind, such as a leader without acknowledgements, shows within seconds.
    cluster.world.runUntil(cluster.world.now + 10_000);
    const atRest = cluster.world.runUntilTrue(() => cluster.isAtRest, REST_MS_MAX);
    must(cluster, atRest !== undefined, `${at} is at rest within ${REST_MS_MAX} ms`);
    cluster.world.runUntil(cluster.world.now + 5_000);
    must(cluster, cluster.isAtRest, `${at} stays at rest`);
    expect(cluster.watch.releasedCount).toBeGreaterThan(0);
  });
});

describe('named scenarios', () => {
  it('CTL-4 a killed worker is replaced within 5 s, because its port refuses and standbys are ready', () => {
    for (let seed = 0; seed < 5; seed += 1) {
      const cluster = begun({ seed });
      cluster.workers[0]?.kill();
      expect(untilServed(cluster, 5_000)).toBeLessThan(5_000);
    }
  });

  it('zombie-thaw: a frozen worker is replaced after its TTL; thawed, it aborts its attempts before anything else', () => {
    for (let seed = 0; seed < 5; seed += 1) {
      const cluster = begun({ seed });
      const [zombie] = cluster.workers;
      zombie?.freeze();
      const ms = untilServed(cluster, cluster.times.ttlMs + 5_000);
      expect(ms).toBeGreaterThan(cluster.times.abortAfterMs);
      cluster.world.runUntil(cluster.world.now + 10_000);
      zombie?.thaw();
      const stillRuns = zombie?.replicas.some(({ runsAttempts }) => runsAttempts);
      expect(stillRuns).toBe(false);
      cluster.world.runUntil(cluster.world.now + 10_000);
      must(cluster, cluster.isServed, 'is served after the thaw');
      must(
        cluster,
        cluster.world.runUntilTrue(() => cluster.isAtRest, 60_000) !== undefined,
        'rests',
      );
    }
  });

  // Frozen at once it is passed over first, as one that was named and does not lead; frozen later it is counted dead.
  it.each([0, 5_000])(
    'CTL-7 a worker that was frozen after %i ms is trusted again as soon as it is the last',
    (ledMs) => {
      for (let seed = 0; seed < 5; seed += 1) {
        const cluster = begun({ seed, workerCount: 2 });
        const [frozen, other] = cluster.workers;
        cluster.world.runUntil(cluster.world.now + ledMs);
        frozen?.freeze();
        untilServed(cluster, cluster.times.ttlMs + 5_000);
        frozen?.thaw();
        cluster.world.runUntil(cluster.world.now + 10_000);
        other?.kill();
        expect(untilServed(cluster, 5_000)).toBeLessThan(5_000);
      }
    },
  );

  it('kv-blackout: metadata and log gone for 8 s move no partition and abort no attempt', () => {
    for (let seed = 0; seed < 5; seed += 1) {
      const cluster = begun({ seed });
      const before = cluster.table;
      const holds = () => cluster.world.trace.filter((line) => line.includes('lapsed')).length;
      const lapsed = holds();
      cluster.documents.isUp = false;
      cluster.log.isUp = false;
      cluster.world.runUntil(cluster.world.now + 8_000);
      cluster.documents.isUp = true;
      cluster.log.isUp = true;
      cluster.world.runUntil(cluster.world.now + 40_000);
      expect(cluster.table).toEqual(before);
      expect(holds()).toBe(lapsed);
      must(cluster, cluster.isServed, 'is served');
    }
  });

  it('CTL-3 kv-blackout of the workers alone: many silent at once are not moved for another TTL', () => {
    const cluster = begun({ seed: 1 });
    const before = cluster.table;
    for (const { id } of cluster.workers.slice(0, 3)) cluster.world.cut(id, 'kv');
    cluster.world.runUntil(cluster.world.now + 25_000);
    expect(cluster.table).toEqual(before);
    expect(cluster.world.trace.some((line) => line.includes('alarm: silent'))).toBe(true);
    cluster.world.mendAll();
    cluster.world.runUntil(cluster.world.now + 20_000);
    expect(cluster.table).toEqual(before);
    must(cluster, cluster.isServed, 'is served');
  });

  it('late-landing-append and phantom-conflict: one record, one release, however late the first copy lands', () => {
    for (let seed = 0; seed < 5; seed += 1) {
      const cluster = begun({ seed });
      cluster.log.lateness = 0.4;
      cluster.log.falseRefusals = 0.3;
      cluster.workers[1]?.kill();
      cluster.world.runUntil(cluster.world.now + 60_000);
      cluster.heal();
      must(
        cluster,
        cluster.world.runUntilTrue(() => cluster.isAtRest, 120_000) !== undefined,
        'rests',
      );
    }
  });

  it('lost-acked-tail: what the log lost and a replica has is found, and nobody leads', () => {
    const cluster = begun({ seed: 3 });
    const leader = cluster.leadersOf(0)[0];
    leader?.kill();
    cluster.world.runUntil(cluster.world.now + 500);
    const records = cluster.log.records[0] ?? [];
    records.splice(records.length - 6);
    cluster.world.runUntil(cluster.world.now + 30_000);
    expect(cluster.leadersOf(0)).toEqual([]);
    expect(cluster.world.trace.some((line) => /alarm (?:tail-lost|ahead)/.test(line))).toBe(true);
    expect(cluster.log.records[0]?.length).toBe(records.length);
  });

  it('LSE-6 a worker that comes back in the moment of its burial never runs beside its successor', () => {
    for (let cutMs = 14_000; cutMs <= 17_000; cutMs += 100) {
      const cluster = begun({ seed: cutMs });
      cluster.documents.delay = { min: 1, max: 1_000 };
      cluster.world.cut('w0', 'kv');
      cluster.world.runUntil(cluster.world.now + cutMs);
      cluster.world.mendAll();
      cluster.world.runUntil(cluster.world.now + 10_000);
      untilServed(cluster, 20_000);
    }
  });

  it('CTL-2 a controller that dies, is frozen or cut off is replaced, and two never harm', () => {
    for (const fault of ['kill', 'freeze', 'cut'] as const) {
      const cluster = begun({ seed: 4 });
      const active = cluster.admins.find(({ isActive }) => isActive);
      if (active === undefined) throw new Error('somebody is the controller');
      if (fault === 'cut') cluster.world.cut(active.id, 'kv');
      else active[fault]();
      cluster.world.runUntil(cluster.world.now + 20_000);
      const others = cluster.admins.filter(({ isActive, id }) => isActive && id !== active.id);
      expect(others.length).toBe(1);
      active.thaw();
      cluster.world.mendAll();
      cluster.workers[2]?.kill();
      untilServed(cluster, 6_000);
      expect(cluster.admins.filter(({ isActive }) => isActive).length).toBe(1);
    }
  });

  it('CTL-6 a worker that leaves hands over first: every partition has its leader but for moments', () => {
    for (let seed = 0; seed < 5; seed += 1) {
      const cluster = begun({ seed });
      const [leaving] = cluster.workers;
      leaving?.leave();
      let gapMs = 0;
      for (let longest = 0; leaving?.isUp === true && cluster.world.now < 200_000;) {
        cluster.world.runUntil(cluster.world.now + 50);
        longest = cluster.isServed ? 0 : longest + 50;
        gapMs = Math.max(gapMs, longest);
      }
      expect(leaving?.isUp).toBe(false);
      expect(gapMs).toBeLessThan(3_000);
      expect(untilServed(cluster, 2_000)).toBeLessThan(2_000);
    }
  });

  it('CTL-5 a worker that joins gets its share, handed over a few at a time', () => {
    const cluster = new SimCluster({ ...DEFAULTS, partitionCount: 12, seed: 5 });
    const [late, ...early] = cluster.workers;
    for (const process of [...early, ...cluster.admins]) process.start();
    cluster.world.runUntil(30_000);
    expect(cluster.leaderCounts()).toEqual([0, 4, 4, 4]);
    late?.start();
    must(
      cluster,
      cluster.world.runUntilTrue(() => cluster.isAtRest, 60_000) !== undefined,
      'rests',
    );
    expect(cluster.leaderCounts()).toEqual([3, 3, 3, 3]);
  });

  it('CTL-10 orders of an operator: a drained node leads and follows nothing, a pin moves, frozen moves nothing', () => {
    const cluster = begun({ seed: 6 });
    const [first, second] = cluster.workers.map(({ id }) => id) as [NodeId, NodeId];
    cluster.order({ ...NO_ORDERS, drained: [first], pins: [{ partition: 0, node: second }] });
    cluster.world.runUntil(cluster.world.now + 30_000);
    const partitions = cluster.table?.partitions ?? [];
    const parts = partitions.filter((p) => p.leader === first || p.standbys.includes(first));
    expect(parts).toEqual([]);
    expect(partitions[0]?.leader).toBe(second);
    cluster.order({ ...NO_ORDERS, isFrozen: true });
    cluster.world.runUntil(cluster.world.now + 2_000);
    const frozen = cluster.table;
    cluster.worker(second)?.kill();
    cluster.world.runUntil(cluster.world.now + 30_000);
    expect(cluster.table).toEqual(frozen);
    cluster.order(NO_ORDERS);
    untilServed(cluster, 5_000);
    expect(cluster.world.violations).toEqual([]);
  });

  it('CTL-8 all workers restart at once: the table stays, and each leads again under a new epoch', () => {
    const cluster = begun({ seed: 7 });
    const leaders = cluster.table?.partitions.map(({ leader }) => leader);
    for (const worker of cluster.workers) worker.kill();
    for (const worker of cluster.workers) worker.start();
    untilServed(cluster, 10_000);
    expect(cluster.table?.partitions.map(({ leader }) => leader)).toEqual(leaders);
    expect(cluster.table?.partitions.every(({ epoch }) => epoch > 1n)).toBe(true);
  });
});
