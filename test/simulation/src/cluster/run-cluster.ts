/** One seed on a cluster: work under faults, work without, then all replicas must stand where their logs end, with equal rows. */

import { planRedeployment, type Stage } from '../run.js';
import { Work } from '../work.js';
import { Client } from '../workloads/client.js';
import { ClusterFaults } from './cluster-faults.js';
import { ClusterWorld } from './cluster-world.js';
import type { ClusterHooks } from './hooks.js';

/** A TTL, another for many that fell silent together, the steps of a take-over, and what a node waits that was passed over. */
const SERVICE_MS_MAX = 60_000;

/** Longest virtual time until every replica stands at the end of its log. */
const REST_MS_MAX = 240_000;

/** Gives how many processes lived. */
export async function runCluster(stage: Stage, hooks: Partial<ClusterHooks> = {}): Promise<number> {
  const { plan, chance, loop, lab, hashes } = stage;
  const world = new ClusterWorld({ ...stage, hooks });
  const client = new Client({
    loop,
    chance: chance.branch('client'),
    faults: world.faults.client,
    hashes,
    schema: () => world.schema,
    server: world,
    lab,
  });
  const work = new Work({ ...stage, client });
  const faults = new ClusterFaults(plan.strikes, { world, loop, chance: chance.branch('faults') });
  planRedeployment(stage, world);
  world.begin();
  faults.begin();
  work.begin();
  await loop.run(plan.faultsUntilMs, () => lab.violations.length > 0);
  faults.end();
  const limit = loop.now + plan.progressMs;
  const isServed = (): boolean => world.picture.isServed;
  if (!(await work.runUntil('every partition is served', loop.now + SERVICE_MS_MAX, isServed))) {
    return world.lives;
  }
  if (!(await work.untilDone(limit))) return world.lives;
  if (!(await work.untilCounted(limit + plan.progressMs))) return world.lives;
  const isIdle = (): boolean => world.isIdle;
  if (!(await work.runUntil('the cluster comes to rest', loop.now + REST_MS_MAX, isIdle))) {
    return world.lives;
  }
  await world.look();
  lab.expect(world.replicas.comparedCount > 0, () => 'no store was compared with its log');
  return world.lives;
}
