import fc from 'fast-check';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, type NodeId, type PartitionTable } from '@engine/domain';

import { place } from './place.js';
import type { Availability, PlacementInput, PlacementNode } from './placement-input.js';
import { Rendezvous } from './rendezvous.js';

let rendezvous: Rendezvous;
beforeAll(async () => {
  const { xxh3 } = await loadHashes();
  rendezvous = new Rendezvous(xxh3);
});

const id = (index: number): NodeId => `w${index}` as NodeId;

function node(index: number, availability: Availability = 'ready', zone?: string): PlacementNode {
  return { id: id(index), zone, availability };
}

function fleet(count: number, zones = 0): PlacementNode[] {
  return Array.from({ length: count }, (_, index) =>
    node(index, 'ready', zones === 0 ? undefined : `z${index % zones}`),
  );
}

function placed(input: Partial<PlacementInput> & Pick<PlacementInput, 'nodes'>): PartitionTable {
  const defaults = {
    partitionCount: 24,
    table: undefined,
    standbyCount: 1,
    pins: new Map(),
    isUnfit: () => false,
    logEpoch: () => 0n,
  };
  return place({ ...defaults, ...input }, rendezvous);
}

function leaderCounts(table: PartitionTable, nodes: readonly PlacementNode[]): number[] {
  return nodes.map((n) => table.partitions.filter(({ leader }) => leader === n.id).length);
}

function standbyCounts(table: PartitionTable, nodes: readonly PlacementNode[]): number[] {
  return nodes.map((n) => table.partitions.filter((p) => p.standbys.includes(n.id)).length);
}

const spread = (counts: readonly number[]): number => Math.max(...counts) - Math.min(...counts);

function moves(before: PartitionTable, after: PartitionTable): [NodeId | undefined, NodeId][] {
  return before.partitions.flatMap((old, index) => {
    const leader = after.partitions[index]?.leader;
    return leader === undefined || leader === old.leader ? [] : [[old.leader, leader]];
  });
}

const partitionCounts = fc.integer({ min: 1, max: 60 });
const nodeCounts = fc.integer({ min: 1, max: 9 });
const standbyCount = fc.integer({ min: 0, max: 2 });

/** A table that came about by joins, deaths and returns. */
const histories = fc.record({
  partitionCount: partitionCounts,
  standbyCount,
  zones: fc.integer({ min: 0, max: 3 }),
  steps: fc.array(
    fc.array(
      fc.constantFrom<Availability>('ready', 'ready', 'ready', 'leaving', 'absent', 'gone'),
      {
        minLength: 6,
        maxLength: 6,
      },
    ),
    { minLength: 1, maxLength: 6 },
  ),
});

describe('placement', () => {
  it('PLC-1 the same input gives the same table, and a table that is right stays', () => {
    fc.assert(
      fc.property(partitionCounts, nodeCounts, standbyCount, (partitionCount, n, standbys) => {
        const input = { partitionCount, nodes: fleet(n), standbyCount: standbys };
        const table = placed(input);
        expect(placed({ ...input, nodes: input.nodes.toReversed() })).toEqual(table);
        expect(placed({ ...input, table })).toBe(table);
      }),
    );
  });

  it('PLC-2 leaders are balanced within one, after any history', () => {
    fc.assert(
      fc.property(histories, ({ partitionCount, standbyCount: standbys, zones, steps }) => {
        let table: PartitionTable | undefined;
        for (const step of steps) {
          const nodes = step.map((a, i) => node(i, a, zones === 0 ? undefined : `z${i % zones}`));
          table = placed({ partitionCount, standbyCount: standbys, nodes, table });
          const ready = nodes.filter(({ availability }) => availability === 'ready');
          if (ready.length === 0) continue;
          expect(spread(leaderCounts(table, ready))).toBeLessThanOrEqual(1);
          const readyIds = new Set(ready.map((n) => n.id));
          for (const { leader } of table.partitions) expect(readyIds.has(leader!)).toBe(true);
        }
      }),
    );
  });

  it('PLC-3 a node that joins takes its share; nothing moves between the others', () => {
    fc.assert(
      fc.property(partitionCounts, nodeCounts, (partitionCount, n) => {
        const before = placed({ partitionCount, nodes: fleet(n) });
        const after = placed({ partitionCount, nodes: fleet(n + 1), table: before });
        const moved = moves(before, after);
        expect(moved.every(([, to]) => to === id(n))).toBe(true);
        expect(moved.length).toBeLessThanOrEqual(Math.ceil(partitionCount / (n + 1)));
        expect(moved.length).toBeGreaterThanOrEqual(Math.floor(partitionCount / (n + 1)));
      }),
    );
  });

  it.each<Availability>(['gone', 'absent', 'draining', 'leaving'])(
    'PLC-4 a node that is %s moves its own alone',
    (availability) => {
      fc.assert(
        fc.property(partitionCounts, fc.integer({ min: 2, max: 9 }), (partitionCount, n) => {
          const before = placed({ partitionCount, nodes: fleet(n) });
          const nodes = [node(0, availability), ...fleet(n).slice(1)];
          const after = placed({ partitionCount, nodes, table: before });
          expect(moves(before, after).every(([from]) => from === id(0))).toBe(true);
          expect(leaderCounts(after, nodes)[0]).toBe(0);
        }),
      );
    },
  );

  it('PLC-5 a draining node leads only while nobody else lives; with nobody alive the table stays', () => {
    const before = placed({ nodes: fleet(2) });
    const alone = placed({ nodes: [node(0, 'draining'), node(1, 'gone')], table: before });
    expect(leaderCounts(alone, fleet(2))).toEqual([24, 0]);
    const nobody = placed({ nodes: [node(0, 'gone'), node(1, 'absent')], table: alone });
    expect(moves(alone, nobody)).toEqual([]);
    const back = placed({ nodes: [node(0, 'draining'), node(1)], table: alone });
    expect(leaderCounts(back, fleet(2))).toEqual([0, 24]);
  });

  it('PLC-6 a moved partition gets an epoch beyond the table and the log; others keep theirs', () => {
    const before = placed({ nodes: fleet(2) });
    expect(before.partitions.every(({ epoch }) => epoch === 1n)).toBe(true);
    const nodes = [node(0, 'gone'), node(1)];
    const after = placed({ nodes, table: before, logEpoch: (p) => (p % 2 === 0 ? 7n : 0n) });
    expect(after.version).toBe(2);
    for (const [index, { epoch }] of after.partitions.entries()) {
      const wasMoved = before.partitions[index]?.leader === id(0);
      expect(epoch).toBe(!wasMoved ? 1n : index % 2 === 0 ? 8n : 2n);
    }
  });

  it('PLC-6 names a living leader as one to ask to stop, a dead one not', () => {
    const before = placed({ nodes: fleet(2) });
    const index = before.partitions.findIndex(({ leader }) => leader === id(0));
    const drained = placed({ nodes: [node(0, 'draining'), node(1)], table: before });
    expect(drained.partitions[index]).toMatchObject({ leader: id(1), predecessors: [id(0)] });
    const dead = placed({ nodes: [node(0, 'absent'), node(1)], table: before });
    expect(dead.partitions[index]).toMatchObject({ leader: id(1), predecessors: [] });
  });

  it('PLC-7 standbys are no leaders, differ, spread over zones and are balanced within two', () => {
    fc.assert(
      fc.property(histories, ({ partitionCount, standbyCount: standbys, zones, steps }) => {
        let table: PartitionTable | undefined;
        for (const step of steps) {
          const zone = (i: number) => (zones === 0 ? undefined : `z${i % zones}`);
          const nodes = step.map((a, i) => node(i, a, zone(i)));
          table = placed({ partitionCount, standbyCount: standbys, nodes, table });
          const ready = nodes.filter(({ availability }) => availability === 'ready');
          if (ready.length === 0) continue;
          const zonesOf = new Map(nodes.map((n) => [n.id, n.zone ?? n.id]));
          const readyZones = new Set(ready.map((n) => zonesOf.get(n.id)));
          for (const { leader, standbys: seated } of table.partitions) {
            expect(seated).not.toContain(leader);
            expect(new Set(seated).size).toBe(seated.length);
            expect(seated.length).toBeGreaterThanOrEqual(Math.min(standbys, ready.length - 1));
            expect(seated.length).toBeLessThanOrEqual(standbys);
            const used = new Set([leader!, ...seated].map((s) => zonesOf.get(s)));
            expect(used.size).toBeGreaterThanOrEqual(Math.min(readyZones.size, seated.length + 1));
          }
          const onlyReady = table.partitions.every((p) =>
            p.standbys.every((s) => ready.some((n) => n.id === s)),
          );
          if (zones === 0 && onlyReady) {
            expect(spread(standbyCounts(table, ready))).toBeLessThanOrEqual(2);
          }
        }
      }),
    );
  });

  it('PLC-7 one failure spreads over all others: a first placement balances standbys within one', () => {
    const before = placed({ nodes: fleet(4) });
    expect(spread(standbyCounts(before, fleet(4)))).toBeLessThanOrEqual(1);
    const after = placed({ nodes: [node(0, 'absent'), ...fleet(4).slice(1)], table: before });
    const toStandby = moves(before, after).length;
    const covered = before.partitions.filter(
      (p, i) => p.leader === id(0) && p.standbys.includes(after.partitions[i]?.leader as NodeId),
    ).length;
    expect(toStandby).toBe(6);
    expect(covered).toBeGreaterThanOrEqual(4);
  });

  it('PLC-8 a pin holds while its node is ready, and the others stay balanced', () => {
    const nodes = fleet(3);
    const pins = new Map(Array.from({ length: 12 }, (_, p) => [p, id(2)] as const));
    const table = placed({ nodes, pins });
    expect(leaderCounts(table, nodes)).toEqual([6, 6, 12]);
    for (const p of pins.keys()) expect(table.partitions[p]?.leader).toBe(id(2));
    const without = placed({ nodes: [...fleet(2), node(2, 'gone')], pins, table });
    expect(leaderCounts(without, nodes)).toEqual([12, 12, 0]);
  });

  it('a node that is unfit for a partition neither leads nor follows it', () => {
    const nodes = fleet(3);
    const before = placed({ nodes });
    const leader = before.partitions[0]?.leader;
    const isUnfit = (p: number, n: NodeId) => p === 0 && n === leader;
    const after = placed({ nodes, table: before, isUnfit });
    expect(after.partitions[0]?.leader).not.toBe(leader);
    expect(after.partitions[0]?.standbys).not.toContain(leader);
  });
});
