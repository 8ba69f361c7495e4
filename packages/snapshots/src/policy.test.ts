import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';
import * as fc from 'fast-check';

import { SNAPSHOT_WRITTEN_BYTES, STANDBY_GRACE_MS } from './limits.js';
import type { Snapshot } from './manifest.js';
import { isDue, snapshotBound, trimPoint, withBound, type HeldBound } from './policy.js';

function snapshot(sequence: bigint, takenAt = 0, writtenBytes = 0): Snapshot {
  const owner = { cluster: 'c', incarnation: 1n, partition: toPartitionId(1) };
  const position = { epoch: 1n, sequence, chain: 0n };
  const rest = { partitionFormat: 1, node: 'n', segments: [] };
  return { name: 's', manifest: { owner, position, takenAt, writtenBytes, ...rest } };
}

describe('when a snapshot is due', () => {
  const policy = { intervalMs: 1_000, intervalRecords: 100n };
  const last = snapshot(50n, 10_000, 7);
  const progress = { sequence: 51n, writtenBytes: 7, since: 0, last };

  it('after so many records, or after so long with any', () => {
    expect(isDue(policy, progress, 10_999)).toBe(false);
    expect(isDue(policy, progress, 11_000)).toBe(true);
    expect(isDue(policy, { ...progress, sequence: 50n }, 99_000)).toBe(false);
    expect(isDue(policy, { ...progress, sequence: 149n }, 10_000)).toBe(false);
    expect(isDue(policy, { ...progress, sequence: 150n }, 10_000)).toBe(true);
  });

  it('after so many bytes, whatever is configured', () => {
    const much = { ...progress, writtenBytes: SNAPSHOT_WRITTEN_BYTES + 7 };
    expect(isDue(policy, much, 10_000)).toBe(true);
    expect(isDue({ ...policy, intervalMs: undefined }, much, 10_000)).toBe(true);
  });

  it('the first one counts from where the node began to look', () => {
    const first = { sequence: 1n, writtenBytes: 0, since: 500, last: undefined };
    expect(isDue(policy, first, 1_499)).toBe(false);
    expect(isDue(policy, first, 1_500)).toBe(true);
    expect(isDue(policy, { ...first, sequence: 100n }, 500)).toBe(true);
    expect(isDue(policy, { ...first, sequence: 0n }, 9_000)).toBe(false);
  });

  it('never, when neither time nor records are asked for', () => {
    const none = { intervalMs: undefined, intervalRecords: undefined };
    const much = { ...progress, sequence: 10_000n, writtenBytes: 2 * SNAPSHOT_WRITTEN_BYTES };
    expect(isDue(none, much, 99_000)).toBe(false);
  });
});

describe('how far a log may be trimmed', () => {
  it('not at all before there are two snapshots, then to the older one', () => {
    expect(snapshotBound([])).toBe(0n);
    expect(snapshotBound([snapshot(9n)])).toBe(0n);
    expect(snapshotBound([snapshot(9n), snapshot(5n)])).toBe(5n);
    expect(snapshotBound([snapshot(9n), snapshot(5n), snapshot(2n)])).toBe(5n);
  });

  it('not above a living standby, for as long as the grace lasts', () => {
    let bounds = withBound([], 5n, 0);
    expect(trimPoint(bounds, [3n, 9n], 0)).toBe(3n);
    bounds = withBound(bounds, 8n, 1_000);
    expect(trimPoint(bounds, [3n, 9n], STANDBY_GRACE_MS - 1)).toBe(3n);
    expect(trimPoint(bounds, [3n, 9n], STANDBY_GRACE_MS)).toBe(5n);
    expect(trimPoint(bounds, [3n, 9n], STANDBY_GRACE_MS + 1_000)).toBe(8n);
    expect(trimPoint(bounds, [9n], 1_000)).toBe(8n);
    expect(trimPoint(bounds, [], 1_000)).toBe(8n);
  });

  it('never above the newest bound, never above a standby but for old bounds', () => {
    const step = fc.record({
      grows: fc.bigInt({ min: 0n, max: 5n }),
      afterMs: fc.integer({ min: 0, max: STANDBY_GRACE_MS }),
      standbys: fc.array(fc.bigInt({ min: 0n, max: 40n }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const history: HeldBound[] = [];
        let bounds: readonly HeldBound[] = [];
        let bound = 0n;
        let nowMs = 0;
        for (const { grows, afterMs, standbys } of steps) {
          bound += grows;
          nowMs += afterMs;
          if (grows > 0n) history.push({ sequence: bound, sinceMs: nowMs });
          bounds = withBound(bounds, bound, nowMs);
          const point = trimPoint(bounds, standbys, nowMs);
          const old = history.filter(({ sinceMs }) => nowMs - sinceMs >= STANDBY_GRACE_MS);
          const overdue = old.at(-1)?.sequence ?? 0n;
          const slowest = [bound, ...standbys].reduce((a, b) => (a < b ? a : b));
          expect(point).toBe(overdue > slowest ? overdue : slowest);
          expect(point <= bound).toBe(true);
        }
      }),
    );
  });

  it('remembers no more bounds than matter', () => {
    let bounds: readonly HeldBound[] = [];
    for (let at = 1; at <= 500; at += 1) {
      bounds = withBound(bounds, BigInt(at), at * 60_000);
    }
    expect(bounds.length).toBeLessThanOrEqual(62);
  });
});
