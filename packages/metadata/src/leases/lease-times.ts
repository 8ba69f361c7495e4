/** Times of leases, in ms of a monotonic clock. All follow from the TTL. */

import { assert } from '@engine/stdx';

/** A failover of the store takes 4 to 8 s and must count nobody dead: ⅔ of the TTL are more than that. */
export const LEASE_TTL_MS_MIN = 15_000;

export interface LeaseTimes {
  /** Without a change seen for so long the holder is counted dead. */
  readonly ttlMs: number;
  /** How often the holder renews. */
  readonly renewalIntervalMs: number;
  /**
   * A renewal without an answer is sent again after this, and the answer to either counts. So a store that was away for 8 s is used
   * within `abortAfterMs` of the last renewal before: 1,000 + 8,000 + 250 of 10,000 ms at the shortest TTL.
   */
  readonly renewalRetryMs: number;
  /** A holder that has not renewed for so long aborts its attempts: before anybody counts it dead. */
  readonly abortAfterMs: number;
  /** Refused connections without a change of the lease over so long mean death: longer than a renewal and its way here. */
  readonly refusedForMs: number;
  /** Own access to the store counts as broken when the last good read or the last good write is older. */
  readonly accessFreshMs: number;
}

/** Throws AssertionError for a TTL under LEASE_TTL_MS_MIN. */
export function leaseTimes(ttlMs: number): LeaseTimes {
  assert(ttlMs >= LEASE_TTL_MS_MIN, `a lease holds for at least ${LEASE_TTL_MS_MIN} ms`);
  return {
    ttlMs,
    renewalIntervalMs: ttlMs / 15,
    renewalRetryMs: ttlMs / 60,
    abortAfterMs: ttlMs * (2 / 3),
    refusedForMs: ttlMs / 15 + 500,
    accessFreshMs: ttlMs / 3,
  };
}
