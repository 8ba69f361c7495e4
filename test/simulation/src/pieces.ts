/**
 * Many seeds in pieces, a process for each and as many at once as there are processors: what the processes that died in a run leave
 * in memory goes with theirs.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

/** Seeds of a piece: about a minute of clusters, and 1.5 GB. */
export const PIECE_SEEDS = 100;

export interface Totals {
  readonly runs: number;
  readonly failures: number;
  readonly events: number;
}

export interface Range {
  readonly from: number;
  readonly count: number;
}

/** The line with which a run of this command ends. */
export function totalsLine({ runs, failures, events }: Totals, seconds: number): string {
  return `${String(runs)} runs, ${String(failures)} failed, ${String(events)} events, ${seconds.toFixed(1)} s`;
}

/** Runs this command for each piece. Tells what each said as soon as it ends; one that ends without a word of its totals has failed. */
export async function runInPieces(
  { from, count }: Range,
  options: readonly string[],
): Promise<Totals> {
  const pieces: Range[] = [];
  for (let done = 0; done < count; done += PIECE_SEEDS) {
    pieces.push({ from: from + done, count: Math.min(PIECE_SEEDS, count - done) });
  }
  const totals = { runs: 0, failures: 0, events: 0 };
  const lane = async (): Promise<void> => {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      const part = await runPiece(piece, options);
      totals.runs += part.runs;
      totals.failures += part.failures;
      totals.events += part.events;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return totals;
}

async function runPiece({ from, count }: Range, options: readonly string[]): Promise<Totals> {
  const [script = ''] = process.argv.slice(1);
  const range = ['--from', String(from), '--seeds', String(count)];
  const child = spawn(process.execPath, [script, ...range, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
  console.log(`seeds ${String(from)} to ${String(from + count - 1)}: ${said.trim()}`);
  const found = /^(\d+) runs, (\d+) failed, (\d+) events/m.exec(said);
  if (found === null) return { runs: 0, failures: 1, events: 0 };
  const [runs = 0, failures = 0, events = 0] = found.slice(1).map(Number);
  return { runs, failures, events };
}
