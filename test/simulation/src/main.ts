/**
 * The command behind `pnpm test:sim` and behind the line that a failing seed prints.
 *
 *   --seed N        one seed, with its event log (--quiet: without)
 *   --seeds N       N seeds, from --from (default 1)
 *   --plan NAME     one plan; default: all
 */

import { parseArgs } from 'node:util';

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
const seconds = (performance.now() - startedAt) / 1000;
const runs = seeds.length * plans.length;
console.log(
  `${String(runs)} runs, ${String(failures)} failed, ${String(events)} events, ${seconds.toFixed(1)} s`,
);
if (failures > 0) process.exitCode = 1;

function tell(report: Report): void {
  const { seed, plan, lives, virtualMs, hash } = report;
  if (report.violations.length > 0) console.log(describeFailure(report));
  else if (values.seed !== undefined) {
    console.log(
      `seed ${String(seed)} of ${plan} passed: ${String(report.events)} events, ${String(lives)} processes, ${String(virtualMs)} ms, ${hash.slice(0, 16)}`,
    );
  }
}
