/** A whole run: services, load, faults, rest, and the verdict on what was seen. */

import { dirname } from 'node:path';

import { waitUntil } from '@engine-test/support';

import type { Chance } from './chance.js';
import { check, type Verdict } from './checker/check.js';
import { Campaign, type Outcome } from './faults/campaign.js';
import type { Fault } from './faults/fault.js';
import { History, readHistory } from './history/history.js';
import { Load } from './load/load.js';
import { Probes } from './probes/probes.js';
import { bringToRest } from './rest.js';
import { ServiceHost } from './services/service-host.js';
import type { System } from './systems/system.js';

export interface RunOptions {
  /** Logs are put beside it. */
  readonly historyPath: string;
  readonly faults: readonly Fault[];
  readonly faultCount: number;
  readonly callers: number;
  readonly thinkMs: number;
  readonly onOutcome: (outcome: Outcome) => void;
}

export interface RunResult {
  readonly outcomes: readonly Outcome[];
  readonly verdict: Verdict;
}

/** Longer than any fault takes. */
const PATIENCE_MS = 300_000;
/** Before the first fault some work is under way. */
const WARM_UP_ENTRIES = 500;

export async function run(system: System, options: RunOptions, chance: Chance): Promise<RunResult> {
  const outcomes = await live(system, options, chance);
  return { outcomes, verdict: await check(readHistory(options.historyPath)) };
}

async function live(
  system: System,
  options: RunOptions,
  chance: Chance,
): Promise<readonly Outcome[]> {
  await using history = new History(options.historyPath);
  await using services = new AsyncDisposableStack();
  for (const service of await ServiceHost.startAll(history)) {
    services.use(service);
    await system.register(service.uri);
  }
  const probes = await Probes.prepare(system);
  const { ingressUrls } = system;
  const { callers, thinkMs } = options;
  const load = new Load(
    { ingressUrls, callers, thinkMs, patienceMs: PATIENCE_MS },
    { chance: chance.branch('load'), history },
  );
  await waitUntil('work is under way', () => history.count > WARM_UP_ENTRIES);
  const campaign = new Campaign(
    { faults: options.faults, count: options.faultCount, onOutcome: options.onOutcome },
    { system, probes, history, chance: chance.branch('faults') },
  );
  const outcomes = await campaign.run();
  system.saveLogs(dirname(options.historyPath));
  await load.stop();
  await waitUntil('all awakeables are completed', () => load.isResolved, PATIENCE_MS);
  await bringToRest(system, history);
  return outcomes;
}
