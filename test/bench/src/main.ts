/**
 * `npm run bench`: the same SDK service and the same load on the reference server and on this one, both durable, in turns
 * within one run. Machines are noisy: the ratios (engine / reference) count, not the absolute figures.
 *
 *   --seconds N   length of a turn, default 6     --rounds N   runs to take the median of, default 3
 *   --only TEXT   workloads whose name contains TEXT     --json FILE   all figures
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { measure, type Measurement } from './load.js';
import { usageOf } from './process-usage.js';
import { ServerFarm, type ServerUnderTest, type Service } from './servers.js';
import { WORKLOADS, type Workload } from './workloads.js';

const { values: args } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});

type Figure = 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs';
type Ratios = Readonly<Record<Figure, number>>;
const FIGURES: readonly Figure[] = ['perSecond', 'p50Ms', 'p99Ms', 'cpuUs'];

interface Side {
  readonly server: ServerUnderTest;
  readonly service: Service;
}

function requireWrk(): void {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT')
      throw new Error('The benchmark needs wrk on the PATH (Debian: apt-get install wrk).');
  }
}

function row(cells: readonly (string | number)[]): void {
  const text = cells.map((cell, index) => String(cell).padEnd(index === 0 ? 18 : 11)).join('');
  process.stdout.write(`${text.trimEnd()}\n`);
}

function printTurn(name: string, server: string, turn: Measurement): void {
  const figures = [turn.perSecond.toFixed(0), turn.p50Ms.toFixed(2), turn.p99Ms.toFixed(2)];
  const costs = [turn.cpuUs.toFixed(0), turn.serviceCpuUs.toFixed(0), turn.residentMb.toFixed(0)];
  row([name, server, ...figures, ...costs, turn.errors]);
}

function ratiosOf(engine: Measurement, reference: Measurement): Ratios {
  const of = (figure: Figure): number => engine[figure] / reference[figure];
  return { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuUs: of('cpuUs') };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function runWorkload(workload: Workload, sides: readonly [Side, Side], scratch: string): Ratios {
  const seconds = Number(args.seconds);
  for (const side of sides) measure(workload, { ...side, seconds: Math.min(seconds, 3), scratch });
  const [reference, engine] = sides.map((side) => {
    const turn = measure(workload, { ...side, seconds, scratch });
    printTurn(workload.id, side.server.name, turn);
    return turn;
  });
  if (reference === undefined || engine === undefined) throw new Error('both servers must run');
  const ratios = ratiosOf(engine, reference);
  row([workload.id, 'ratio', ...FIGURES.map((figure) => ratios[figure].toFixed(2))]);
  return ratios;
}

async function idle(server: ServerUnderTest): Promise<void> {
  const windowMs = 3000;
  const before = usageOf(server.pid);
  await new Promise((resolve) => setTimeout(resolve, windowMs));
  const after = usageOf(server.pid);
  const percent = ((after.cpuSeconds - before.cpuSeconds) / (windowMs / 1000)) * 100;
  const facts = `ready in ${String(server.startMs)} ms, idle ${after.residentMb.toFixed(0)} MB, ${percent.toFixed(1)} % CPU`;
  process.stdout.write(`${server.name}: ${facts}\n`);
}

async function main(): Promise<void> {
  requireWrk();
  const only = args.only;
  const workloads = WORKLOADS.filter(({ id }) => only === undefined || id.includes(only));
  const scratch = mkdtempSync(join(tmpdir(), 'engine-bench-'));
  await using farm = new ServerFarm(scratch);
  const report = new Map<string, Ratios[]>();
  try {
    const servers = [await farm.reference(), await farm.engine()] as const;
    for (const server of servers) await idle(server);
    const [reference, engine] = servers;
    const sides = [
      { server: reference, service: await farm.serviceOf(reference) },
      { server: engine, service: await farm.serviceOf(engine) },
    ] as const;
    row([
      'workload',
      'server',
      'inv/s',
      'p50 ms',
      'p99 ms',
      'cpu us',
      'sdk us',
      'rss MB',
      'errors',
    ]);
    for (let round = 0; round < Number(args.rounds); round += 1) {
      for (const workload of workloads) {
        const ratios = runWorkload(workload, sides, scratch);
        report.set(workload.id, [...(report.get(workload.id) ?? []), ratios]);
      }
    }
    process.stdout.write('\nengine / reference, median of the rounds\n');
    row(['workload', 'inv/s', 'p50', 'p99', 'cpu']);
    for (const [id, rounds] of report) {
      row([
        id,
        ...FIGURES.map((figure) => median(rounds.map((ratios) => ratios[figure])).toFixed(2)),
      ]);
    }
    if (args.json !== undefined) {
      writeFileSync(args.json, JSON.stringify(Object.fromEntries(report), undefined, 2));
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

await main();
