/** What a run prints: a line for each fault as it passes, and in the end a table by kind of fault. */

import { loadavg } from 'node:os';

import type { Verdict } from '../checker/check.js';
import type { Outcome } from '../faults/campaign.js';

const FAILURES_SHOWN_MAX = 3;
const VIOLATIONS_SHOWN_MAX = 40;

export function outcomeLine(outcome: Outcome): string {
  const { number, fault, what, figureMs, slowestMs, failures, problem } = outcome;
  const figure = figureMs === undefined ? 'never' : ms(figureMs);
  const tail = problem === undefined ? '' : `, ${problem}`;
  const seen = failures.slice(0, FAILURES_SHOWN_MAX).map((text) => `\n      ${text}`);
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const figures = `${fault.figure} ${figure}, slowest ${ms(slowestMs)}, failed ${String(failures.length)}, load ${load}`;
  const shown = fault.mayFail ? '' : seen.join('');
  return `${String(number).padStart(4)} ${fault.name}: ${what}: ${figures}${tail}${shown}`;
}

/** What is wrong with an outcome; undefined: nothing. */
export function faultOf({ fault, figureMs, failures, problem }: Outcome): string | undefined {
  const { msMax } = fault;
  if (problem !== undefined) return problem;
  if (figureMs === undefined) return 'not served again';
  if (msMax !== undefined && figureMs > msMax) return `${fault.figure} ${ms(figureMs)}`;
  if (!fault.mayFail && failures.length > 0) return `${String(failures.length)} failed requests`;
  return undefined;
}

export function table(outcomes: readonly Outcome[]): string {
  const rows = [
    ['fault', 'measured', 'times', 'median', 'worst', 'limit', 'slowest', 'failed', ''],
  ];
  for (const [name, those] of Map.groupBy(outcomes, ({ fault }) => fault.name)) {
    const { msMax: limit, mayFail, figure } = those[0]?.fault ?? { mayFail: true };
    const sorted = those.map(({ figureMs }) => figureMs ?? Infinity).toSorted((a, b) => a - b);
    const failed = those.reduce((sum, { failures }) => sum + failures.length, 0);
    rows.push([
      name,
      figure ?? '',
      String(those.length),
      ms(sorted[Math.floor(sorted.length / 2)] ?? 0),
      ms(sorted.at(-1) ?? 0),
      limit === undefined ? '-' : ms(limit),
      ms(Math.max(...those.map(({ slowestMs }) => slowestMs))),
      mayFail ? `(${String(failed)})` : String(failed),
      those.some((one) => faultOf(one) !== undefined) ? 'MISSED' : 'ok',
    ]);
  }
  return columns(rows);
}

export function verdictText({ violations, counts }: Verdict): string {
  const shown = violations
    .slice(0, VIOLATIONS_SHOWN_MAX)
    .map(({ harm, text }) => `  ${harm}: ${text}`);
  const more = violations.length - shown.length;
  if (more > 0) shown.push(`  … and ${String(more)} more`);
  const figures = [
    `${String(counts.asked)} operations`,
    `${String(counts.acknowledged)} acknowledged`,
    `${String(counts.unknown)} unknown`,
    `${String(counts.failedRequests)} failed requests`,
    `${String(counts.bookings)} bookings`,
    `${String(counts.stepRepeats)} steps repeated before their result was durable`,
    `${String(counts.overlaps)} calls repeated by turns that were frozen`,
  ];
  const harms = Map.groupBy(violations, ({ harm }) => harm);
  const lost = harms.get('lost')?.length ?? 0;
  const doubled = harms.get('doubled')?.length ?? 0;
  const sums = [
    `${String(lost)} lost`,
    `${String(doubled)} doubled`,
    `${String(violations.length - lost - doubled)} otherwise wrong`,
  ];
  return [...shown, figures.join(', '), sums.join(', ')].join('\n');
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  return rows.map(line).join('\n');
}

function ms(value: number): string {
  return Number.isFinite(value) ? `${(value / 1000).toFixed(2)} s` : 'never';
}
