/**
 * The command behind `npm run fuzz` and behind the line that a finding prints.
 *
 *   --target NAME   one target; default: all
 *   --inputs N      inputs per target, default 20000
 *   --seed N        default: drawn, and printed
 *   --first N       number of the first input, default 0
 */

import { parseArgs } from 'node:util';

import { describeReport } from './describe-report.js';
import { fuzz } from './fuzz.js';
import { targets } from './targets/index.js';

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    first: { type: 'string', default: '0' },
  },
});

const seed = Number(values.seed);
const chosen = targets.filter(({ name }) => values.target === undefined || name === values.target);
if (chosen.length === 0) {
  throw new Error(`no such target; there are ${targets.map(({ name }) => name).join(', ')}`);
}
for (const target of chosen) {
  const inputs = Number(values.inputs);
  const report = await fuzz({ target, seed, inputs, first: Number(values.first) });
  console.log(describeReport(report, seed));
  if (report.findings.length > 0) process.exitCode = 1;
}
