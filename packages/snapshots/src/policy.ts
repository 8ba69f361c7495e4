/** When a partition is due for a snapshot, and how far its log may be trimmed. Pure: moments are arguments. */

import { SNAPSHOT_WRITTEN_BYTES, SNAPSHOTS_KEPT, STANDBY_GRACE_MS } from './limits.js';
import type { Snapshot } from './manifest.js';

export interface SnapshotPolicy {
  /** A partition that changed is due after so long; undefined: time alone makes none due. */
  readonly intervalMs: number | undefined;
  /** A partition is due after so many records; undefined: their number alone makes none due. With neither none is ever due. */
  readonly intervalRecords: bigint | undefined;
}

/** A partition as its leader's store has it. */
export interface PartitionProgress {
  readonly sequence: bigint;
  readonly writtenBytes: number;
  /** When this node began to look after it, in ms since 1970. */
  readonly since: number;
  /** The newest snapshot that counts. */
  readonly last: Snapshot | undefined;
}

/** True when a snapshot should be taken. `now`: in ms since 1970. */
export function isDue(
  { intervalMs, intervalRecords }: SnapshotPolicy,
  { last, ...progress }: PartitionProgress,
  now: number,
): boolean {
  if (intervalMs === undefined && intervalRecords === undefined) return false;
  const records = progress.sequence - (last?.manifest.position.sequence ?? 0n);
  if (records <= 0n) return false;
  if (intervalRecords !== undefined && records >= intervalRecords) return true;
  const written = progress.writtenBytes - (last?.manifest.writtenBytes ?? 0);
  if (written >= SNAPSHOT_WRITTEN_BYTES) return true;
  return intervalMs !== undefined && now - (last?.manifest.takenAt ?? progress.since) >= intervalMs;
}

/** Up to where snapshots let the log be trimmed: what the older of the two newest holds. 0 while there are not two. */
export function snapshotBound(newestFirst: readonly Snapshot[]): bigint {
  return newestFirst[SNAPSHOTS_KEPT - 1]?.manifest.position.sequence ?? 0n;
}

/** Since when a bound holds, on a clock that does not go back. */
export interface HeldBound {
  readonly sequence: bigint;
  readonly sinceMs: number;
}

/** The bounds after `bound` was found at `nowMs`, oldest first. Drops those that decide nothing any more. */
export function withBound(
  bounds: readonly HeldBound[],
  bound: bigint,
  nowMs: number,
): readonly HeldBound[] {
  const grown =
    bound > (bounds.at(-1)?.sequence ?? 0n)
      ? [...bounds, { sequence: bound, sinceMs: nowMs }]
      : bounds;
  const overdue = grown.findLastIndex((each) => isOverdue(each, nowMs));
  return grown.slice(Math.max(overdue, 0));
}

/**
 * Up to where the log may be trimmed: never above the newest bound, and not above the slowest of `standbys` (what each living one has
 * applied) but for bounds that have held for STANDBY_GRACE_MS.
 */
export function trimPoint(
  bounds: readonly HeldBound[],
  standbys: readonly bigint[],
  nowMs: number,
): bigint {
  const newest = bounds.at(-1)?.sequence ?? 0n;
  const slowest = standbys.reduce((least, each) => (each < least ? each : least), newest);
  const overdue = bounds.findLast((each) => isOverdue(each, nowMs))?.sequence ?? 0n;
  return overdue > slowest ? overdue : slowest;
}

function isOverdue({ sinceMs }: HeldBound, nowMs: number): boolean {
  return nowMs - sinceMs >= STANDBY_GRACE_MS;
}
