import { describe, expect, it } from '@jest/globals';

import type { PartitionLog } from '@engine/log';

import { readPlan } from './plan.js';
import { runSeed } from './run.js';

const SEEDS_MAX = 200;

/** Says that a record is durable when it has only been handed over. */
function releasingEarly(log: PartitionLog): PartitionLog {
  let last: Promise<void> = Promise.resolve();
  return {
    get position() {
      return log.position;
    },
    commit: (record) => {
      last = last.then(() => log.commit(record));
      return Promise.resolve();
    },
  };
}

describe('a rule that is broken on purpose', () => {
  it(`release before commit is found within ${String(SEEDS_MAX)} seeds`, async () => {
    const plan = readPlan('storm');
    const found: string[] = [];
    for (let seed = 1; seed <= SEEDS_MAX && found.length === 0; seed += 1) {
      const report = await runSeed({ seed, plan, wrapLog: releasingEarly });
      found.push(...report.violations);
    }
    expect(found.join('\n')).toContain('durable before visible');
  }, 120_000);
});
