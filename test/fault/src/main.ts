/**
 * `npm run fault`: faults under load on real processes, and whether anything was lost, doubled or wrong.
 *
 *   --faults N       how many, default 20      --seed S       default: chance; printed
 *   --only TEXT      kinds whose name contains TEXT (several: a,b)     --embedded     one engine process instead of a cluster
 *   --workers N      default 3                 --partitions N    default 12
 *   --callers N      default 40                --think MS     mean pause of a caller between operations, default 400
 *   --check FILE     only the verdict on a history that is there
 */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Chance } from './chance.js';
import { check } from './checker/check.js';
import { FAULTS } from './faults/faults.js';
import { readHistory } from './history/history.js';
import { faultOf, outcomeLine, table, verdictText } from './report/table.js';
import { run } from './run.js';
import { ClusterSystem } from './systems/cluster.js';
import { EmbeddedSystem } from './systems/embedded.js';
import type { System } from './systems/system.js';

const { values: args } = parseArgs({
  options: {
    faults: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    callers: { type: 'string', default: '40' },
    think: { type: 'string', default: '400' },
    workers: { type: 'string', default: '3' },
    partitions: { type: 'string', default: '12' },
    embedded: { type: 'boolean', default: false },
    check: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
  },
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function startSystem(): Promise<System> {
  if (args.embedded) return EmbeddedSystem.start();
  return ClusterSystem.start({
    natsCount: 3,
    adminCount: 2,
    ingressCount: 2,
    workerCount: Number(args.workers),
    partitionCount: Number(args.partitions),
    withNetworkCuts: true,
  });
}

/** Processes and mounted disks don't outlive a run that is stopped. */
function endWith(system: System): void {
  const end = (): void => {
    void Promise.resolve(system[Symbol.asyncDispose]()).finally(() => process.exit(1));
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
}

async function campaign(): Promise<boolean> {
  const seed = Number(args.seed);
  const wanted = args.only.split(',');
  const historyPath = join(mkdtempSync(join(tmpdir(), 'engine-history-')), 'history.jsonl');
  say(`seed ${String(seed)}, history ${historyPath}`);
  await using system = await startSystem();
  endWith(system);
  const { outcomes, verdict } = await run(
    system,
    {
      historyPath,
      faults: FAULTS.filter(({ name }) => wanted.some((text) => name.includes(text))),
      faultCount: Number(args.faults),
      callers: Number(args.callers),
      thinkMs: Number(args.think),
      onOutcome: (outcome) => {
        say(outcomeLine(outcome));
      },
    },
    new Chance(seed),
  );
  say(table(outcomes));
  say(verdictText(verdict));
  const isAllDone = outcomes.length === Number(args.faults);
  const areLimitsKept = outcomes.every((outcome) => faultOf(outcome) === undefined);
  return isAllDone && areLimitsKept && verdict.violations.length === 0;
}

async function verdictOn(path: string): Promise<boolean> {
  const verdict = await check(readHistory(path));
  say(verdictText(verdict));
  return verdict.violations.length === 0;
}

const isGood = args.check === undefined ? await campaign() : await verdictOn(args.check);
say(isGood ? 'PASSED' : 'FAILED');
process.exitCode = isGood ? 0 : 1;
