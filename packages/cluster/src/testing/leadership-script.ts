/** The language of leadership scenarios: one line per input, in words. Chain values follow from sequences; `!` marks another one. */

import type { NodeId, PartitionReport } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import type { LeaseState } from '@engine/metadata';

import type { StoreVerdict } from '../leadership/chain-checks.js';
import type { Leadership } from '../leadership/leadership.js';
import type { Assignment, LeadershipAction, LeadershipInput } from '../leadership/leadership-io.js';

/** Reads one line, without the leading `> `. `read` is the number of the last `read-to-end`. Throws on a line that it does not know. */
export function parseInput(line: string, read: number): LeadershipInput {
  const words = line.split(' ');
  const [verb = '', a = '', b = ''] = words;
  const option = (name: string): string | undefined => {
    const place = words.indexOf(name);
    return place < 0 ? undefined : words[place + 1];
  };
  switch (verb) {
    case 'opened':
      return { kind: 'opened', verdict: a as StoreVerdict | 'format', position: position(words) };
    case 'assigned':
      return { kind: 'assigned', assignment: assignment(a, BigInt(b), option('from')) };
    case 'asked-to-stop':
      return { kind: 'asked-to-stop', epoch: BigInt(a) };
    case 'read':
      return { kind: 'records-read', position: position(words) };
    case 'end': {
      const end = position(words);
      const clockSkewMs = Number(option('skew') ?? 0);
      return { kind: 'end-reached', read, clockSkewMs, tail: { end, chainAt: chainOf } };
    }
    case 'replicas':
      return { kind: 'replicas-answered', replicas: words.slice(1).map(replica) };
    case 'broken':
      return { kind: 'log-broken', fault: a as 'other-branch' | 'ahead' };
    case 'stopped-before':
      return { kind: 'predecessor-stopped', node: a as NodeId, epoch: BigInt(option('for') ?? 0) };
    case 'landed':
      return { kind: 'append-landed', position: position(words) };
    case 'unknown':
      return { kind: 'append-unknown', forMs: Number(option('for') ?? 0) };
    case 'lease':
      return { kind: 'lease', state: a as LeaseState };
    default:
      return simple(verb);
  }
}

const SIMPLE = {
  overtaken: 'append-overtaken',
  'store-failed': 'store-failed',
  trimmed: 'log-trimmed',
  rebuilt: 'rebuilt',
  stopped: 'stopped',
  tick: 'tick',
} as const;

function simple(verb: string): LeadershipInput {
  if (!(verb in SIMPLE)) throw new Error(`not an input: ${verb}`);
  return { kind: SIMPLE[verb as keyof typeof SIMPLE] };
}

function assignment(role: string, epoch: bigint, from: string | undefined): Assignment {
  if (role !== 'leader') return { role: role as 'standby' | 'none', epoch };
  const predecessors = from === undefined ? [] : (from.split(',') as NodeId[]);
  return { role, epoch, predecessors };
}

const chainOf = (sequence: bigint): bigint => sequence * 1000n;

/** `… 7 in 2`: sequence 7, epoch 2. */
function position(words: readonly string[]): LogPosition {
  const place = words.indexOf('in');
  const sequence = BigInt(words[place - 1] ?? '0');
  return { epoch: BigInt(words[place + 1] ?? '0'), sequence, chain: chainOf(sequence) };
}

/** `b:7`, or `b:7!` for a replica with another history. */
function replica(text: string): { node: NodeId; sequence: bigint; chain: bigint } {
  const [node = '', place = '0'] = text.split(':');
  const sequence = BigInt(place.replace('!', ''));
  const chain = chainOf(sequence) + (place.endsWith('!') ? 1n : 0n);
  return { node: node as NodeId, sequence, chain };
}

/** What came of an input, indented, and where the machine stands when that changed. */
export function printStep(actions: readonly LeadershipAction[], machine: Leadership): string[] {
  return [
    ...actions.map((action) => `  ! ${printAction(action)}`),
    `  = ${printReport(machine.report)}`,
  ];
}

function printAction(action: LeadershipAction): string {
  switch (action.kind) {
    case 'ask-to-stop':
      return `ask-to-stop ${action.node} for ${action.epoch}`;
    case 'announce':
      return `announce ${action.epoch} after ${action.after.sequence} in ${action.after.epoch}`;
    case 'alarm':
      return `alarm ${action.fault}`;
    default:
      return action.kind;
  }
}

function printReport(report: PartitionReport): string {
  const words = [
    `${report.phase} ${report.epoch}`,
    `log ${report.logEpoch}`,
    `applied ${report.applied}`,
  ];
  if (report.isCaughtUp) words.push('caught up');
  if (report.isStuck) words.push('stuck');
  if (report.fault !== undefined) words.push(report.fault);
  return words.join(', ');
}
