import { describe, expect, it } from '@jest/globals';
import type { NodeId, PartitionAssignment, PartitionReport, PartitionTable } from '@engine/domain';

import type { Availability } from '../placement/placement-input.js';
import { raisableFormat } from './formats.js';
import { nextTable, type StepInput } from './next-table.js';

const [A, B, C] = ['a', 'b', 'c'] as unknown as [NodeId, NodeId, NodeId];

const led: PartitionAssignment = { leader: A, epoch: 3n, standbys: [B], predecessors: [] };

function tableOf(...partitions: PartitionAssignment[]): PartitionTable {
  return { version: 1, partitions };
}

const leading: PartitionReport = {
  phase: 'leader',
  epoch: 3n,
  logEpoch: 3n,
  applied: 9n,
  isCaughtUp: true,
  isStuck: false,
  fault: undefined,
};
const ready: PartitionReport = { ...leading, phase: 'follower' };
const filling: PartitionReport = { ...ready, isCaughtUp: false };

interface Situation extends Partial<Omit<StepInput, 'report' | 'availability'>> {
  readonly table: PartitionTable;
  readonly goal: PartitionTable;
  readonly reports?: Partial<Record<string, PartitionReport>>;
  readonly nodes?: Partial<Record<string, Availability>>;
}

function step({ reports = {}, nodes = {}, ...rest }: Situation): PartitionTable {
  const all = { a: leading, b: ready, ...reports } as Record<string, PartitionReport | undefined>;
  const availability = (node: NodeId): Availability => nodes[node] ?? 'ready';
  return nextTable({
    isAlive: (node) => availability(node) !== 'absent' && availability(node) !== 'gone',
    availability,
    report: (_, node) => all[node],
    logEpoch: () => 3n,
    isUnfit: () => false,
    isOverdue: () => false,
    handoversMax: 2,
    fillsMax: 2,
    ...rest,
  });
}

const to = (leader: NodeId, ...standbys: NodeId[]): PartitionAssignment => ({
  ...led,
  leader,
  standbys,
});

describe('the next table', () => {
  it('CTL-4 replaces a dead leader at once by a standby that is ready, whoever was wanted', () => {
    const next = step({ table: tableOf(led), goal: tableOf(to(C)), nodes: { a: 'absent' } });
    const expected = { leader: B, epoch: 4n, standbys: [A], predecessors: [] };
    expect(next.partitions).toEqual([expected]);
  });

  it('CTL-4 goes beyond the epoch that the log knows', () => {
    const table = tableOf(led);
    const next = step({ table, goal: table, nodes: { a: 'gone' }, logEpoch: () => 7n });
    expect(next.partitions[0]).toMatchObject({ leader: B, epoch: 8n, standbys: [] });
  });

  it('CTL-4 without a standby that is ready takes the one with most of the log', () => {
    const table = tableOf({ ...led, standbys: [B, C] });
    const reports = { b: { ...filling, applied: 2n }, c: { ...filling, applied: 5n } };
    const next = step({ table, goal: tableOf(to(B)), nodes: { a: 'absent' }, reports });
    expect(next.partitions[0]?.leader).toBe(C);
  });

  it('CTL-4 leaves a partition where it is when nobody lives', () => {
    const table = tableOf(led);
    expect(step({ table, goal: table, nodes: { a: 'absent', b: 'absent' } })).toBe(table);
  });

  it('CTL-5 hands over a few at a time, and only to a standby that is ready', () => {
    const table = tableOf(led, led, led);
    const goal = tableOf(to(B, A), to(B, A), to(B, A));
    const next = step({ table, goal });
    expect(next.partitions.map(({ leader }) => leader)).toEqual([B, B, A]);
    expect(next.partitions[0]).toMatchObject({ predecessors: [A], standbys: [A], epoch: 4n });
    expect(step({ table: next, goal })).toBe(next);
    expect(step({ table, goal, reports: { b: filling } })).toBe(table);
  });

  it('CTL-5 lets the one that shall lead fill first, beside the standby that is there', () => {
    const next = step({ table: tableOf(led), goal: tableOf(to(C, A)) });
    expect(next.partitions[0]).toEqual({ ...led, standbys: [B, C] });
  });

  it('CTL-6 a leader that goes hands over to anyone who is ready, after a while to anyone', () => {
    const nodes = { a: 'leaving' } as const;
    const goal = tableOf(to(C, A));
    expect(step({ table: tableOf(led), goal, nodes }).partitions[0]?.leader).toBe(B);
    const reports = { b: filling, c: filling };
    const table = tableOf({ ...led, standbys: [B, C] });
    expect(step({ table, goal, nodes, reports })).toBe(table);
    const late = step({ table, goal, nodes, reports, isOverdue: (node) => node === A });
    expect(late.partitions[0]).toMatchObject({ leader: C, predecessors: [A] });
  });

  it('CTL-7 a standby leaves only when its successor has the data', () => {
    const goal = tableOf(to(A, C));
    const both = step({ table: tableOf(led), goal });
    expect(both.partitions[0]?.standbys).toEqual([B, C]);
    expect(step({ table: both, goal, reports: { c: filling } })).toBe(both);
    const done = step({ table: both, goal, reports: { c: ready } });
    expect(done.partitions[0]?.standbys).toEqual([C]);
  });

  it('CTL-7 no more standbys fill at a time than may', () => {
    const table = tableOf(...Array.from({ length: 5 }, () => to(A)));
    const goal = tableOf(...Array.from({ length: 5 }, () => to(A, C)));
    const next = step({ table, goal });
    expect(next.partitions.filter(({ standbys }) => standbys.length > 0)).toHaveLength(2);
    expect(step({ table: next, goal })).toBe(next);
  });

  it('CTL-8 one that gave up gets an epoch beyond the log; one that has not led yet does not', () => {
    const table = tableOf(led);
    const gaveUp = { ...ready, logEpoch: 6n };
    const next = step({ table, goal: table, reports: { a: gaveUp }, logEpoch: () => 6n });
    expect(next.partitions[0]).toMatchObject({ leader: A, epoch: 7n, predecessors: [] });
    const waiting = { ...ready, logEpoch: 2n };
    expect(step({ table, goal: table, reports: { a: waiting } })).toBe(table);
    const ofBefore = { ...ready, epoch: 2n, logEpoch: 2n };
    expect(step({ table, goal: table, reports: { a: ofBefore } })).toBe(table);
  });

  it('CTL-8 whoever may still run attempts is asked to stop: all before, until one has led', () => {
    const table = tableOf({ ...led, predecessors: [C] });
    const unfit = (_: number, node: NodeId): boolean => node === A;
    const notYet = { ...leading, phase: 'candidate' } as const;
    const goal = tableOf(to(B));
    const step1 = step({ table, goal, isUnfit: unfit, reports: { a: notYet } });
    expect(step1.partitions[0]).toMatchObject({ leader: B, predecessors: [C, A] });
    const step2 = step({ table, goal, isUnfit: unfit });
    expect(step2.partitions[0]).toMatchObject({ leader: B, predecessors: [A] });
    const step3 = step({ table, goal: table, nodes: { c: 'absent' } });
    expect(step3.partitions[0]).toEqual(led);
  });

  it('CTL-9 nobody is moved away from a lost tail', () => {
    const table = tableOf(led);
    const reports = { a: { ...ready, phase: 'quarantined', fault: 'tail-lost' } as const };
    expect(step({ table, goal: tableOf(to(B)), reports })).toBe(table);
  });
});

describe('the format of a cluster', () => {
  const cluster = { id: 'c', name: 'c', partitionCount: 1, replicas: 1, formatVersion: 2 } as const;
  const node = (min: number, max: number) => ({ formats: { min, max } }) as never;

  it('is raised only when every registered node reads it', () => {
    expect(raisableFormat(cluster, [node(1, 3), node(2, 4)])).toBe(3);
    expect(raisableFormat(cluster, [node(1, 2), node(2, 4)])).toBe(2);
    expect(raisableFormat(cluster, [node(2, 3), node(4, 5)])).toBe(2);
    expect(raisableFormat(cluster, [])).toBe(2);
  });
});
