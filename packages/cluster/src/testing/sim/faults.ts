/** Faults at random: each begins at some moment and ends by itself or by `heal`. */

import type { SimCluster } from './cluster.js';

const FAULTS = [
  'kill',
  'freeze',
  'cut-store',
  'cut-log',
  'cut-peers',
  'slow-store',
  'store-gone',
  'log-gone',
  'late-appends',
  'leave',
] as const;

/** Begins faults one after the other until `durationMs` are over; on average one every four seconds. */
export function disturb(cluster: SimCluster, durationMs: number): void {
  const { world } = cluster;
  const end = world.now + durationMs;
  const next = (): void => {
    if (world.now >= end) return;
    strike(cluster);
    world.after(world.chance.between(500, 8_000), next);
  };
  world.after(world.chance.between(0, 2_000), next);
}

function strike(cluster: SimCluster): void {
  const { world, documents, log } = cluster;
  const { chance } = world;
  const later = (ms: number, fn: () => void): void => {
    world.after(ms, () => {
      if (!cluster.isHealed) fn();
    });
  };
  const victim = chance.pick(cluster.processes);
  const other = chance.pick(cluster.processes);
  const fault = chance.pick(FAULTS);
  if (victim === undefined || other === undefined || fault === undefined) return;
  const lasting = chance.happens(0.5) ? chance.between(200, 5_000) : chance.between(5_000, 40_000);
  switch (fault) {
    case 'kill':
      victim.kill();
      later(lasting, () => {
        victim.start();
      });
      return;
    case 'freeze':
      if (victim.isFrozen) return;
      victim.freeze();
      later(lasting, () => {
        victim.thaw();
      });
      return;
    case 'leave': {
      const worker = cluster.workers.find(({ id }) => id === victim.id);
      if (worker?.isUp !== true || worker.isFrozen || worker.isLeaving) return;
      worker.leave();
      later(lasting + 10_000, () => {
        worker.kill();
        worker.start();
      });
      return;
    }
    case 'cut-store':
      cutFor(cluster, [victim.id, documents.name], lasting);
      return;
    case 'cut-log':
      cutFor(cluster, [victim.id, log.name], lasting);
      return;
    case 'cut-peers':
      if (victim !== other) cutFor(cluster, [victim.id, other.id], lasting);
      return;
    case 'slow-store':
      slowStoreFor(cluster, lasting);
      return;
    case 'store-gone':
      documents.isUp = false;
      later(Math.min(lasting, 20_000), () => {
        documents.isUp = true;
      });
      return;
    case 'log-gone':
      log.isUp = false;
      later(Math.min(lasting, 10_000), () => {
        log.isUp = true;
      });
      return;
    case 'late-appends':
      log.lateness = 0.2;
      log.falseRefusals = 0.1;
      later(lasting, () => {
        log.lateness = 0;
        log.falseRefusals = 0;
      });
  }
}

function slowStoreFor({ documents, world }: SimCluster, ms: number): void {
  const usual = { min: 1, max: 10 };
  documents.delay = { min: 200, max: world.chance.between(500, 3_000) };
  world.after(ms, () => {
    documents.delay = usual;
  });
}

function cutFor(cluster: SimCluster, [a, b]: readonly [string, string], ms: number): void {
  cluster.world.cut(a, b);
  cluster.world.after(ms, () => {
    cluster.world.mend(a, b);
  });
}
