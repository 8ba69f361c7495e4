import { describe, expect, it } from '@jest/globals';

import type { ClusterHooks } from '../cluster/hooks.js';
import { readPlan } from '../plan.js';
import { runSeed } from '../run.js';
import { attemptsKept, releasingEarly } from './broken-rules.js';

const SEEDS_MAX = 100;
const TIMEOUT_MS = 240_000;

/** What the first seed finds that finds anything. */
async function found(plan: string, hooks: Partial<ClusterHooks>): Promise<string> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const { violations } = await runSeed({ seed, plan: readPlan(plan), hooks });
    if (violations.length > 0) return violations.join('\n');
  }
  return '';
}

describe('a rule of clusters that is broken on purpose', () => {
  it(
    'release before the record is in the log',
    async () => {
      expect(await found('cluster', { log: releasingEarly })).toContain('which is not in the log');
    },
    TIMEOUT_MS,
  );

  it(
    'attempts that go on without a lease',
    async () => {
      const violations = await found('cluster-leases', { seats: attemptsKept });
      expect(violations).toMatch(/ runs in \S+ while its attempt \d+ runs in /);
    },
    TIMEOUT_MS,
  );
});
