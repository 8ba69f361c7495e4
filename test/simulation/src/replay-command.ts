/** What people see of a failed seed: what broke, at which commit, and the one command that shows it again. */

import { execFileSync } from 'node:child_process';

import type { Report } from './run.js';

const VIOLATIONS_SHOWN = 10;

export function replayCommand(report: Pick<Report, 'seed' | 'plan'>): string {
  return `node test/simulation/bin/simulate.mjs --plan ${report.plan} --seed ${String(report.seed)}`;
}

export function describeFailure(report: Report): string {
  return [
    `seed ${String(report.seed)} of plan ${report.plan} failed at commit ${commit()}:`,
    ...report.violations.slice(0, VIOLATIONS_SHOWN).map((text) => `  ${text}`),
    `replay: ${replayCommand(report)}`,
  ].join('\n');
}

function commit(): string {
  try {
    const options = { cwd: import.meta.dirname, stdio: 'pipe' } as const;
    return execFileSync('git', ['describe', '--always', '--dirty'], options).toString().trim();
  } catch {
    return 'unknown';
  }
}
