/** Runs one seed of one plan from the first event to the last check. */

import { loadHashes } from '@engine/domain';

import { checkEmpty, checkRows } from './checkers/store.js';
import type { Plan } from './plan.js';
import { Chance } from './simulator/chance.js';
import { EventLoop } from './simulator/event-loop.js';
import { Trace } from './simulator/trace.js';
import { World, type LogWrapper } from './simulator/world.js';
import { Client } from './workloads/client.js';
import { Lab } from './workloads/lab.js';
import { OPERATIONS, type OperationName } from './workloads/operations.js';
import { makeDeployments } from './workloads/schema.js';
import { scriptedServices } from './workloads/services.js';
import { Tally } from './workloads/tally.js';

export interface SeedRun {
  readonly seed: number;
  readonly plan: Plan;
  /** Gets each line of the event log as it happens. */
  readonly echo?: (line: string) => void;
  /** Breaks a rule on purpose. */
  readonly wrapLog?: LogWrapper;
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

/** Longer than any sleep, retention and grace of a run: after it nothing but the state of objects may be left. */
const RETENTION_OVER_MS = 26 * 3_600_000;

/** With more broken promises than this a run is given up. */
const VIOLATIONS_MAX = 5;

/** Longest virtual time until the server is at rest after the last operation. */
const REST_MS = 60_000;

export async function runSeed({ seed, plan, echo, wrapLog }: SeedRun): Promise<Report> {
  const hashes = await loadHashes();
  const chance = new Chance(seed);
  const loop = new EventLoop(chance.branch('order'));
  const trace = new Trace(echo);
  const lab = new Lab(loop, plan.faults.process.clockSkewMs);
  const services = scriptedServices(lab);
  const dealing = chance.branch('deployments');
  const world = new World({
    plan,
    chance,
    loop,
    lab,
    trace,
    hashes,
    handlers: (service, handler) =>
      services.find(({ name }) => name === service)?.handlers[handler]?.run,
    deployments: makeDeployments(services, 1, dealing),
    wrapLog: wrapLog ?? ((log) => log),
  });
  const client = new Client({
    loop,
    chance: chance.branch('client'),
    faults: world.faults.client,
    hashes,
    schema: () => world.schema,
    server: world,
    lab,
  });
  const run = new Run({ plan, chance, loop, lab, world, client, trace });
  loop.after(plan.faultsUntilMs / 2, () => {
    const moved = services.filter(() => dealing.happens(0.3));
    world.register(makeDeployments(moved, 2, dealing));
  });
  await guardingRejections(lab, () => run.whole());
  return {
    seed,
    plan: plan.name,
    violations: [...lab.violations],
    hash: trace.digest(),
    events: loop.eventCount,
    lives: world.lives,
    virtualMs: Math.round(loop.now),
    tail: trace.tail(60),
  };
}

interface RunDependencies {
  readonly plan: Plan;
  readonly chance: Chance;
  readonly loop: EventLoop;
  readonly lab: Lab;
  readonly world: World;
  readonly client: Client;
  readonly trace: Trace;
}

class Run {
  readonly #dependencies: RunDependencies;
  readonly #tally: Tally;
  readonly #open = new Set<string>();
  #started = 0;

  constructor(dependencies: RunDependencies) {
    this.#dependencies = dependencies;
    this.#tally = new Tally(dependencies.lab);
  }

  /** Work under faults, work without, a look at everything, and the wait until all is forgotten. */
  async whole(): Promise<void> {
    const { plan, world, loop, lab } = this.#dependencies;
    world.begin();
    for (let caller = 0; caller < plan.callers; caller += 1) this.#startCaller(caller);
    const limit = plan.faultsUntilMs + plan.progressMs;
    if (!(await this.#runUntil('every operation ends', limit, () => this.#isWorkDone()))) return;
    if (
      !(await this.#await('the look at the objects', limit + plan.progressMs, () =>
        this.#tally.check(this.#dependencies.client, limit + plan.progressMs),
      ))
    )
      return;
    if (!(await this.#runUntil('the server comes to rest', loop.now + REST_MS, () => world.isIdle)))
      return;
    this.#report(await checkRows(world.view, plan.partitions));
    world.crash('at the end');
    // Whoever comes up now has nothing to do but to forget.
    await loop.run(loop.now + RETENTION_OVER_MS, () => lab.violations.length > 0);
    this.#report(await checkRows(world.view, plan.partitions));
    this.#report(await checkEmpty(world.view, plan.partitions));
  }

  #isWorkDone(): boolean {
    return this.#started >= this.#dependencies.plan.operations && this.#open.size === 0;
  }

  #startCaller(caller: number): void {
    const { chance, lab, loop } = this.#dependencies;
    const own = chance.branch(`caller ${String(caller)}`);
    const work = async (): Promise<void> => {
      while (this.#started < this.#dependencies.plan.operations) {
        await loop.sleep(own.delay(20, 3_000));
        if (this.#started < this.#dependencies.plan.operations) await this.#operate(own);
      }
    };
    work().catch((error: unknown) => {
      lab.violation(
        `a caller gave up: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
      );
    });
  }

  async #operate(chance: Chance): Promise<void> {
    const { plan, client, lab, trace, loop } = this.#dependencies;
    const name = chance.weighted<OperationName>(plan.mix);
    this.#started += 1;
    const tag = `${name}-${String(this.#started)}`;
    this.#open.add(tag);
    trace.add(loop.now, `begin ${tag}`);
    await OPERATIONS[name]({ client, chance, lab, tally: this.#tally, tag });
    trace.add(loop.now, `end ${tag}`);
    this.#open.delete(tag);
  }

  /** Runs events until the work is done. */
  async #await(what: string, until: number, work: () => Promise<void>): Promise<boolean> {
    let isDone = false;
    work().then(
      () => {
        isDone = true;
      },
      (error: unknown) => {
        this.#dependencies.lab.violation(`${what}: ${String(error)}`);
      },
    );
    return this.#runUntil(what, until, () => isDone);
  }

  /** False when the run is over: too much is broken, or it does not come to an end. */
  async #runUntil(what: string, until: number, isDone: () => boolean): Promise<boolean> {
    const { loop, lab } = this.#dependencies;
    const isOver = (): boolean => lab.violations.length > VIOLATIONS_MAX;
    const end = await loop.run(until, () => isOver() || isDone());
    if (isOver()) return false;
    if (end === 'done') return true;
    const open = [...this.#open].slice(0, 5).join(', ');
    lab.violation(`progress: ${end} before ${what}${open === '' ? '' : `; open: ${open}`}`);
    return false;
  }

  #report(found: readonly string[]): void {
    for (const text of found) this.#dependencies.lab.violation(text);
  }
}

/** A rejected promise that nobody handles would end a real process. */
async function guardingRejections(lab: Lab, work: () => Promise<void>): Promise<void> {
  const onRejection = (error: unknown): void => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    lab.violation(`a rejection that nobody handles: ${text}`);
  };
  process.on('unhandledRejection', onRejection);
  try {
    await work();
  } finally {
    process.off('unhandledRejection', onRejection);
  }
}
