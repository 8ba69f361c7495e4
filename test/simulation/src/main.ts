/**
 * The command behind `pnpm test:sim` and behind the line that a failing seed prints.
 *
 *   --seed N        one seed, with its event log (--quiet: without)
 *   --seeds N       N seeds, from --from (default 1); many in several processes
 *   --plan NAME     one plan; default: all
 */

import { parseArgs } from 'node:util';

import { PIECE_SEEDS, runInPieces, totalsLine, type Totals } from './pieces.js';
import { planNames, readPlan } from './plan.js';
import { describeFailure } from './replay-command.js';
import { runSeed, type Report } from './run.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    plan: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});

const plans = (values.plan === undefined ? planNames() : [values.plan]).map(readPlan);
const seeds =
  values.seed === undefined
    ? Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.from) + index)
    : [Number(values.seed)];
const echo =
  values.seed === undefined || values.quiet
    ? {}
    : {
        echo: (line: string) => {
          console.log(line);
        },
      };

const startedAt = performance.now();
const totals = seeds.length > PIECE_SEEDS ? await inPieces() : await inThisProcess();
console.log(totalsLine(totals, (performance.now() - startedAt) / 1000));
if (totals.failures > 0) process.exitCode = 1;

function inPieces(): Promise<Totals> {
  const range = { from: Number(values.from), count: seeds.length };
  return runInPieces(range, values.plan === undefined ? [] : ['--plan', values.plan]);
}

async function inThisProcess(): Promise<Totals> {
  let failures = 0;
  let events = 0;
  for (const seed of seeds) {
    for (const plan of plans) {
      const report = await runSeed({ seed, plan, ...echo });
      events += report.events;
      if (report.violations.length > 0) failures += 1;
      tell(report);
    }
  }
  return { runs: seeds.length * plans.length, failures, events };
}

function tell(report: Report): void {
  const { seed, plan, lives, virtualMs, hash } = report;
  if (report.violations.length > 0) console.log(describeFailure(report));
  else if (values.seed !== undefined) {
    console.log(
      `seed ${String(seed)} of ${plan} passed: ${String(report.events)} events, ${String(lives)} processes, ${String(virtualMs)} ms, ${hash.slice(0, 16)}`,
    );
  }
}
