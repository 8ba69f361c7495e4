import { describe, expect, it } from '@jest/globals';

import { planNames, readPlan } from './plan.js';
import { replayCommand } from './replay-command.js';
import { runSeed } from './run.js';
import { keepsEveryPromise } from './seeds.js';

/** Seeds of each plan here; `pnpm test:sim --seeds 2000` runs more. */
const SEEDS_PER_PLAN = 25;
const TIMEOUT_MS = 600_000;

describe('simulation', () => {
  it.each(planNames().filter((name) => readPlan(name).cluster === undefined))(
    'plan %s keeps every promise',
    (name) => keepsEveryPromise(readPlan(name), SEEDS_PER_PLAN),
    TIMEOUT_MS,
  );

  it(
    'a seed runs the same way twice',
    async () => {
      const plan = readPlan('storm');
      const first = await runSeed({ seed: 11, plan });
      const second = await runSeed({ seed: 11, plan });
      const other = await runSeed({ seed: 12, plan });
      expect(second.hash).toBe(first.hash);
      expect(second.events).toBe(first.events);
      expect(other.hash).not.toBe(first.hash);
    },
    TIMEOUT_MS,
  );

  it('a failing seed names the command that replays it', () => {
    const command = replayCommand({ seed: 7, plan: 'storm' });
    expect(command).toBe('node test/simulation/bin/simulate.mjs --plan storm --seed 7');
  });
});
