import type { Plan } from './plan.js';
import { describeFailure } from './replay-command.js';
import { runSeed } from './run.js';

/** Runs the first so many seeds of a plan. Throws what the first that fails found, with the command that shows it again. */
export async function keepsEveryPromise(plan: Plan, seeds: number): Promise<void> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const report = await runSeed({ seed, plan });
    if (report.violations.length > 0) throw new Error(describeFailure(report));
  }
}
