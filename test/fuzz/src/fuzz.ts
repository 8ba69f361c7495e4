/** Feeds a target: one input after the other, each watched for what it throws, how long it takes and how much memory it asks for. */

import { Chance } from './chance.js';
import { settledBytes, usedBytes } from './memory.js';
import type { FuzzCase, OpenTarget, Target } from './target.js';
import { Watchdog } from './watchdog.js';

/** The thread ends the process when one input runs for so long. */
const HANG_MS = 20_000;
/** An input that takes longer, twice in a row, is a finding. Machines are busy, so this is far above what any input needs. */
const SLOW_MS = 1_000;
/** One input of some hundred bytes that makes this much memory on its own is a finding. */
const GULP_BYTES_MAX = 64 * 1024 * 1024;
/** Inputs that fill caches and compile code before memory is compared. */
const WARM_SHARE = 0.25;
/** What may be left behind: caches that were not full when it was warm. */
const LEFT_BYTES_MAX = 12 * 1024 * 1024;
/** Findings after which a run ends. */
const FINDINGS_MAX = 5;

export interface FuzzOptions {
  readonly target: Target;
  readonly seed: number;
  readonly inputs: number;
  /** Number of the first input. */
  readonly first?: number;
}

export interface Finding {
  readonly index: number;
  readonly reason: string;
  readonly bytes: Uint8Array;
}

export interface Report {
  readonly target: string;
  readonly inputs: number;
  readonly seconds: number;
  readonly findings: readonly Finding[];
  /** Bytes that were in use at the end beyond those after the warm-up. */
  readonly leftBytes: number;
}

export function replayCommand(target: string, seed: number, index: number | 'INPUT'): string {
  return `npm run fuzz -- --target ${target} --seed ${String(seed)} --first ${String(index)} --inputs 1`;
}

export async function fuzz(options: FuzzOptions): Promise<Report> {
  const { target, seed, inputs, first = 0 } = options;
  await using open = await target.open();
  using watchdog = new Watchdog(HANG_MS, replayCommand(target.name, seed, 'INPUT'));
  const findings: Finding[] = [];
  const startedAt = performance.now();
  const warmAt = first + Math.floor(inputs * WARM_SHARE);
  let warmBytes = 0;
  let done = 0;
  for (let index = first; index < first + inputs && findings.length < FINDINGS_MAX; index += 1) {
    if (index === warmAt) warmBytes = settledBytes();
    const input = open.next(new Chance(seed, index));
    watchdog.enter(index, input.bytes);
    const reason = await trouble(input, open, () => new Chance(seed, index));
    if (reason !== undefined) findings.push({ index, reason, bytes: input.bytes });
    done += 1;
  }
  const leftBytes = settledBytes() - warmBytes;
  if (findings.length === 0 && leftBytes > LEFT_BYTES_MAX) {
    const reason = `${String(leftBytes)} bytes were left behind by all inputs together`;
    findings.push({ index: first, reason, bytes: new Uint8Array(0) });
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  return { target: target.name, inputs: done, seconds, findings, leftBytes };
}

/** Why the input is a finding. What is slow or greedy is tried again: the machine may have been busy, the memory another's. */
async function trouble(
  input: FuzzCase,
  open: OpenTarget,
  again: () => Chance,
): Promise<string | undefined> {
  const reason = await observe(input);
  if (reason === undefined || reason.kind === 'thrown') return reason?.text;
  const second = await observe(open.next(again()));
  return second?.text;
}

interface Trouble {
  readonly kind: 'thrown' | 'costly';
  readonly text: string;
}

async function observe(input: FuzzCase): Promise<Trouble | undefined> {
  const bytesBefore = usedBytes();
  const startedAt = performance.now();
  try {
    const running = input.run();
    if (running !== undefined) await running;
  } catch (error) {
    return { kind: 'thrown', text: textOf(error) };
  }
  const ms = performance.now() - startedAt;
  const bytes = usedBytes() - bytesBefore;
  if (ms > SLOW_MS) return { kind: 'costly', text: `it took ${ms.toFixed(0)} ms` };
  if (bytes > GULP_BYTES_MAX) return { kind: 'costly', text: `it took ${String(bytes)} bytes` };
  return undefined;
}

function textOf(error: unknown): string {
  const { stack, cause } = error as { readonly stack?: unknown; readonly cause?: unknown };
  const text = typeof stack === 'string' ? stack : String(error);
  return cause === undefined ? text : `${text}\ncaused by ${textOf(cause)}`;
}
