export { planNames, readPlan, type Plan } from './plan.js';
export { describeFailure, replayCommand } from './replay-command.js';
export { runSeed, type Report, type SeedRun } from './run.js';
