import { describe, expect, it } from '@jest/globals';

import { planNames, readPlan } from '../plan.js';
import { runSeed } from '../run.js';
import { keepsEveryPromise } from '../seeds.js';

/** Seeds of each plan here, about half a second each; `pnpm test:sim --plan cluster --seeds 2000` runs more. */
const SEEDS: Readonly<Record<string, number>> = {
  cluster: 30,
  'cluster-leases': 25,
  'cluster-calm': 5,
};
const TIMEOUT_MS = 600_000;

describe('a simulated cluster', () => {
  it('every plan of a cluster is run', () => {
    const plans = planNames().filter((name) => readPlan(name).cluster !== undefined);
    expect(plans.sort()).toEqual(Object.keys(SEEDS).sort());
  });

  it.each(Object.entries(SEEDS))(
    'plan %s keeps every promise for %i seeds',
    (name, seeds) => keepsEveryPromise(readPlan(name), seeds),
    TIMEOUT_MS,
  );

  it(
    'a seed runs the same way twice',
    async () => {
      const plan = readPlan('cluster');
      const first = await runSeed({ seed: 11, plan });
      const second = await runSeed({ seed: 11, plan });
      const other = await runSeed({ seed: 12, plan });
      expect([second.hash, second.events]).toEqual([first.hash, first.events]);
      expect(other.hash).not.toBe(first.hash);
    },
    TIMEOUT_MS,
  );
});
