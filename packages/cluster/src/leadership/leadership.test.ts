import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import type { NodeId, PartitionPhase } from '@engine/domain';

import { Leadership } from './leadership.js';
import { assignmentOf, type LeadershipAction, type LeadershipInput } from './leadership-io.js';

const NODES = ['a', 'b', 'c'] as NodeId[];
const small = fc.bigInt({ min: 0n, max: 6n });
const position = fc.record({ epoch: small, sequence: small, chain: small });
const node = fc.constantFrom(...NODES);

/** Anything that a driver could tell, in any order. */
const inputs: fc.Arbitrary<LeadershipInput> = fc.oneof(
  fc.record({
    kind: fc.constant('opened' as const),
    verdict: fc.constantFrom('continues', 'continues', 'continues', 'trimmed', 'ahead', 'format'),
    position,
  }),
  fc.record({
    kind: fc.constant('assigned' as const),
    assignment: fc.oneof(
      fc.record({
        role: fc.constant('leader' as const),
        epoch: small,
        predecessors: fc.uniqueArray(node, { maxLength: 2 }),
      }),
      fc.record({ role: fc.constantFrom('standby', 'none'), epoch: small }),
    ),
  }),
  fc.record({ kind: fc.constant('asked-to-stop' as const), epoch: small }),
  fc.record({ kind: fc.constant('records-read' as const), position }),
  fc.record({
    kind: fc.constant('end-reached' as const),
    read: fc.nat(8),
    tail: fc.record({ end: position, chainAt: fc.constant(() => undefined) }),
    clockSkewMs: fc.constantFrom(0, 0, 0, 5_000),
  }),
  fc.record({
    kind: fc.constant('replicas-answered' as const),
    replicas: fc.array(fc.record({ node, sequence: small, chain: small }), { maxLength: 1 }),
  }),
  fc.record({ kind: fc.constant('predecessor-stopped' as const), node, epoch: small }),
  fc.record({ kind: fc.constant('append-landed' as const), position }),
  fc.record({
    kind: fc.constant('log-broken' as const),
    fault: fc.constantFrom('ahead', 'other-branch'),
  }),
  fc.record({
    kind: fc.constant('lease' as const),
    state: fc.constantFrom('held', 'lapsed', 'lost'),
  }),
  fc.record({
    kind: fc.constantFrom(
      'log-trimmed',
      'append-overtaken',
      'append-unknown',
      'store-failed',
      'rebuilt',
      'stopped',
      'tick',
    ),
  }),
);

/** Follows a machine through `script`; a reader's answers carry the number of its last question half of the time. */
function follow(
  script: readonly LeadershipInput[],
  check: (
    action: LeadershipAction,
    at: {
      readonly before: PartitionPhase;
      readonly machine: Leadership;
      readonly input: LeadershipInput;
    },
  ) => void,
): void {
  const machine = new Leadership({ handoverPatienceMs: 15_000 });
  let read = 0;
  for (const [now, told] of script.entries()) {
    const before = machine.phase;
    const isAnswer = told.kind === 'end-reached' && told.read % 2 === 0;
    const input = isAnswer ? { ...told, read } : told;
    for (const action of machine.step(input, now * 1_000)) {
      if (action.kind === 'read-to-end') read = action.read;
      check(action, { before, machine, input });
    }
  }
}

const scripts = fc.array(inputs, { maxLength: 60 });

describe('the leadership of a partition', () => {
  it('LDR-1 is total, and announces only beyond every epoch that it knows', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        follow(script, (action, { machine }) => {
          if (action.kind !== 'announce') return;
          expect(action.epoch).toBeGreaterThan(machine.report.logEpoch);
          expect(action.epoch).toBeGreaterThan(action.after.epoch);
          expect(machine.phase).toBe('announcing');
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('LDR-6 rebuilds only when its own announcement landed, and serves only what it rebuilt', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        follow(script, (action, { before, input, machine }) => {
          if (action.kind === 'rebuild') {
            expect([before, input.kind]).toEqual(['announcing', 'append-landed']);
            if (input.kind === 'append-landed') {
              expect(input.position.epoch).toBe(machine.report.epoch);
            }
          }
          if (action.kind === 'serve')
            expect([before, input.kind]).toEqual(['rebuilding', 'rebuilt']);
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('LDR-10 whoever leads no more stops first, and then opens its store again', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const owning: readonly PartitionPhase[] = ['rebuilding', 'leader'];
        follow(script, (action, { before, machine, input }) => {
          if (owning.includes(before) && !owning.includes(machine.phase)) {
            expect([action.kind, machine.phase]).toEqual(['stop', 'stepping-down']);
          }
          if (action.kind !== 'reopen') return;
          const reading: readonly PartitionPhase[] = ['follower', 'candidate'];
          const hasFailed = input.kind === 'store-failed' && reading.includes(before);
          expect(hasFailed || before === 'stepping-down').toBe(true);
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes its part from the table', () => {
    const [a, b, c] = NODES as [NodeId, NodeId, NodeId];
    const partition = { leader: a, epoch: 2n, standbys: [b], predecessors: [c] };
    const table = { version: 1, partitions: [partition] };
    expect(assignmentOf(table, 0, a)).toEqual({ role: 'leader', epoch: 2n, predecessors: [c] });
    expect(assignmentOf(table, 0, b)).toEqual({ role: 'standby', epoch: 2n });
    expect(assignmentOf(table, 0, c)).toEqual({ role: 'none', epoch: 2n });
    expect(assignmentOf(table, 1, a)).toEqual({ role: 'none', epoch: 0n });
  });
});
