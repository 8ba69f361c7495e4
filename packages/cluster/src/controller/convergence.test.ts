/** Step after step the table comes to rest, whatever happened before: a table that is written for ever moves partitions for ever. */

import fc from 'fast-check';
import { beforeAll, expect, it } from '@jest/globals';
import { loadHashes, type NodeId, type PartitionReport, type PartitionTable } from '@engine/domain';

import type { Availability, PlacementNode } from '../placement/placement-input.js';
import { place } from '../placement/place.js';
import { Rendezvous } from '../placement/rendezvous.js';
import { nextTable } from './next-table.js';

/** More than any history here needs. */
const STEPS_MAX = 120;
const NODES = 5;
const PARTITIONS_MAX = 24;

let rendezvous: Rendezvous;
beforeAll(async () => {
  const { xxh3 } = await loadHashes();
  rendezvous = new Rendezvous(xxh3);
});

const nodeId = (index: number): NodeId => `w${index}` as NodeId;

interface Situation {
  readonly partitionCount: number;
  readonly standbyCount: number;
  readonly zones: number;
  readonly availabilities: readonly Availability[];
  /** `partition/node`: has a store that cannot be trusted there, or was passed over. */
  readonly unfit: readonly string[];
}

function nodesOf({ availabilities, zones }: Situation): PlacementNode[] {
  return availabilities.map((availability, index) => ({
    id: nodeId(index),
    zone: zones === 0 ? undefined : `z${index % zones}`,
    availability,
  }));
}

/** One round of a controller to which every leader says that it leads, and every standby that it has caught up. */
function round(table: PartitionTable | undefined, situation: Situation): PartitionTable {
  const nodes = nodesOf(situation);
  const { partitionCount, standbyCount, unfit } = situation;
  const isUnfit = (partition: number, node: NodeId): boolean =>
    unfit.includes(`${partition}/${node}`);
  const logEpoch = (): bigint => 0n;
  const pins = new Map<number, NodeId>();
  const goal = place(
    { partitionCount, table, nodes, standbyCount, pins, isUnfit, logEpoch },
    rendezvous,
  );
  if (table === undefined) return goal;
  const availability = (node: NodeId): Availability =>
    nodes.find(({ id }) => id === node)?.availability ?? 'gone';
  const report = (partition: number, node: NodeId): PartitionReport | undefined => {
    const { leader, epoch = 0n } = table.partitions[partition] ?? {};
    const phase = leader === node ? 'leader' : 'follower';
    const caughtUp = { isCaughtUp: true, isStuck: false, fault: undefined, applied: 0n };
    return { ...caughtUp, phase, epoch, logEpoch: phase === 'leader' ? epoch : 0n };
  };
  return nextTable({
    table,
    goal,
    isAlive: (node) => !['absent', 'gone'].includes(availability(node)),
    availability,
    report,
    logEpoch,
    isUnfit,
    isOverdue: () => false,
    handoversMax: 4,
    fillsMax: 8,
  });
}

/** The table at rest. Undefined when it never comes to rest. */
function settle(
  table: PartitionTable | undefined,
  situation: Situation,
): PartitionTable | undefined {
  let current = table;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const next = round(current, situation);
    if (next === current) return current;
    current = next;
  }
  return undefined;
}

const availability = fc.constantFrom<Availability>(
  ...(['ready', 'ready', 'ready', 'ready', 'leaving', 'draining', 'absent', 'gone'] as const),
);

/** What happens next: who is there, and which nodes are passed over for some of what they lead or follow. */
interface Change {
  readonly availabilities: readonly Availability[];
  readonly passedOver: readonly { readonly node: number; readonly mask: number }[];
  /** Rounds until the next change. */
  readonly rounds: number;
}

const changes: fc.Arbitrary<Change> = fc.record({
  availabilities: fc.array(availability, { minLength: NODES, maxLength: NODES }),
  passedOver: fc.array(
    fc.record({ node: fc.nat({ max: NODES - 1 }), mask: fc.nat({ max: 2 ** PARTITIONS_MAX - 1 }) }),
    { maxLength: 2 },
  ),
  rounds: fc.integer({ min: 1, max: 12 }),
});

const histories = fc.record({
  fixed: fc.record({
    partitionCount: fc.integer({ min: 1, max: PARTITIONS_MAX }),
    standbyCount: fc.integer({ min: 0, max: 2 }),
    zones: fc.integer({ min: 0, max: 3 }),
  }),
  changes: fc.array(changes, { minLength: 1, maxLength: 6 }),
});

function unfitIn(table: PartitionTable | undefined, { passedOver }: Change): readonly string[] {
  const partitions = table?.partitions ?? [];
  return passedOver.flatMap(({ node, mask }) =>
    partitions.flatMap(({ leader, standbys }, partition) => {
      const sits = leader === nodeId(node) || standbys.includes(nodeId(node));
      return sits && (mask >> partition) % 2 === 1 ? [`${partition}/${nodeId(node)}`] : [];
    }),
  );
}

it('comes to rest after any history', () => {
  fc.assert(
    fc.property(histories, ({ fixed, changes: all }) => {
      let table: PartitionTable | undefined;
      for (const change of all) {
        const situation = { ...fixed, ...change, unfit: unfitIn(table, change) };
        let rest = table;
        for (let count = 0; count < change.rounds; count += 1) rest = round(rest, situation);
        expect(settle(rest, situation)).toBeDefined();
        table = rest;
      }
    }),
    { numRuns: 1_000 },
  );
});

it('comes to rest when a node is back that is passed over for what it led', () => {
  const unrested: string[] = [];
  for (let nodes = 2; nodes <= NODES; nodes += 1) {
    for (let partitionCount = 1; partitionCount <= PARTITIONS_MAX; partitionCount += 1) {
      const ready = Array.from({ length: nodes }, (): Availability => 'ready');
      const fixed = { standbyCount: 1, zones: 0, partitionCount, unfit: [] };
      const before = settle(undefined, { ...fixed, availabilities: ready });
      const without = settle(before, { ...fixed, availabilities: ['absent', ...ready.slice(1)] });
      const led = (before?.partitions ?? []).flatMap(({ leader }, partition) =>
        leader === nodeId(0) ? [`${partition}/${nodeId(0)}`] : [],
      );
      for (let from = 0; from <= led.length; from += 1) {
        const back = { ...fixed, availabilities: ready, unfit: led.slice(from) };
        if (settle(without, back) === undefined)
          unrested.push(`${nodes}, ${partitionCount}, ${from}`);
      }
    }
  }
  expect(unrested).toEqual([]);
});
