/** Runs one seed of one plan from the first event to the last check. */

import { loadHashes, type Deployment, type Hashes } from '@engine/domain';

import { checkEmpty, checkRows } from './checkers/store.js';
import type { ClusterHooks } from './cluster/hooks.js';
import { runCluster } from './cluster/run-cluster.js';
import type { Handler } from './deployment/handler-context.js';
import type { Plan } from './plan.js';
import { Chance } from './simulator/chance.js';
import { EventLoop } from './simulator/event-loop.js';
import { Trace } from './simulator/trace.js';
import { World, type LogWrapper } from './simulator/world.js';
import { Work } from './work.js';
import { Client } from './workloads/client.js';
import { Lab } from './workloads/lab.js';
import { makeDeployments } from './workloads/schema.js';
import type { ScriptedService } from './workloads/scripted-service.js';
import { scriptedServices } from './workloads/services.js';

export interface SeedRun {
  readonly seed: number;
  readonly plan: Plan;
  /** Gets each line of the event log as it happens. */
  readonly echo?: (line: string) => void;
  /** Break rules on purpose: of plans of one process, and of plans of a cluster. */
  readonly wrapLog?: LogWrapper;
  readonly hooks?: Partial<ClusterHooks>;
}

export interface Report {
  readonly seed: number;
  readonly plan: string;
  /** What was promised and did not hold; empty = the seed passed. */
  readonly violations: readonly string[];
  /** Hash over the whole event log. */
  readonly hash: string;
  readonly events: number;
  /** Server processes that lived. */
  readonly lives: number;
  /** Virtual time of the whole run, ms. */
  readonly virtualMs: number;
  readonly tail: readonly string[];
}

/** What every run is made of, whatever the shape of the server. */
export interface Stage {
  readonly plan: Plan;
  readonly chance: Chance;
  readonly loop: EventLoop;
  readonly trace: Trace;
  readonly lab: Lab;
  readonly hashes: Hashes;
  readonly services: readonly ScriptedService[];
  /** Who gets which deployments. */
  readonly dealing: Chance;
  readonly deployments: readonly Deployment[];
  readonly handlers: (service: string, handler: string) => Handler | undefined;
}

/** Longer than any sleep, retention and grace of a run: after it nothing but the state of objects may be left. */
const RETENTION_OVER_MS = 26 * 3_600_000;

/** Longest virtual time until the server is at rest after the last operation. */
const REST_MS = 60_000;

export async function runSeed({ seed, plan, echo, wrapLog, hooks }: SeedRun): Promise<Report> {
  const stage = await setStage(seed, plan, echo);
  const { lab, trace, loop } = stage;
  const lives = await guardingRejections(lab, () =>
    plan.cluster === undefined
      ? runProcess(stage, wrapLog ?? ((log) => log))
      : runCluster(stage, hooks),
  );
  return {
    seed,
    plan: plan.name,
    violations: [...lab.violations],
    hash: trace.digest(),
    events: loop.eventCount,
    lives,
    virtualMs: Math.round(loop.now),
    tail: trace.tail(60),
  };
}

export async function setStage(
  seed: number,
  plan: Plan,
  echo?: (line: string) => void,
): Promise<Stage> {
  const hashes = await loadHashes();
  const chance = new Chance(seed);
  const loop = new EventLoop(chance.branch('order'));
  const lab = new Lab(loop, plan.faults.process.clockSkewMs);
  const services = scriptedServices(lab);
  const dealing = chance.branch('deployments');
  return {
    plan,
    chance,
    loop,
    trace: new Trace(echo),
    lab,
    hashes,
    services,
    dealing,
    deployments: makeDeployments(services, 1, dealing),
    handlers: (service, handler) =>
      services.find(({ name }) => name === service)?.handlers[handler]?.run,
  };
}

/** Halfway through, some services move to new deployments. */
export function planRedeployment(
  { plan, loop, services, dealing }: Stage,
  world: { register(deployments: readonly Deployment[]): void },
): void {
  loop.after(plan.faultsUntilMs / 2, () => {
    const moved = services.filter(() => dealing.happens(0.3));
    world.register(makeDeployments(moved, 2, dealing));
  });
}

/**
 * One process leads all partitions: work under faults, work without, a look at everything, and the wait until all is forgotten.
 * Gives how many processes lived.
 */
async function runProcess(stage: Stage, wrapLog: LogWrapper): Promise<number> {
  const { plan, chance, loop, lab, hashes } = stage;
  const world = new World({ ...stage, wrapLog });
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
  planRedeployment(stage, world);
  world.begin();
  work.begin();
  const limit = plan.faultsUntilMs + plan.progressMs;
  if (!(await work.untilDone(limit))) return world.lives;
  if (!(await work.untilCounted(limit + plan.progressMs))) return world.lives;
  const rests = await work.runUntil(
    'the server comes to rest',
    loop.now + REST_MS,
    () => world.isIdle,
  );
  if (!rests) return world.lives;
  work.report(await checkRows(world.view, plan.partitions));
  world.crash('at the end');
  // Whoever comes up now has nothing to do but to forget.
  await loop.run(loop.now + RETENTION_OVER_MS, () => lab.violations.length > 0);
  work.report(await checkRows(world.view, plan.partitions));
  work.report(await checkEmpty(world.view, plan.partitions));
  return world.lives;
}

/** A rejected promise that nobody handles would end a real process. */
async function guardingRejections<T>(lab: Lab, work: () => Promise<T>): Promise<T> {
  const onRejection = (error: unknown): void => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    lab.violation(`a rejection that nobody handles: ${text}`);
  };
  process.on('unhandledRejection', onRejection);
  try {
    return await work();
  } finally {
    process.off('unhandledRejection', onRejection);
  }
}
