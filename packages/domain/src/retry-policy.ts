/** Retry policy of a handler, with all defaults filled in (interface §2.3). */

import { RETRY_DELAY_MS_MAX } from './limits.js';

export type OnMaxAttempts = 'pause' | 'kill';

export interface RetryPolicy {
  readonly initialIntervalMs: number;
  readonly exponentiationFactor: number;
  readonly maxIntervalMs: number;
  /** Counts the first attempt; at least 1; undefined = unlimited. */
  readonly maxAttempts: number | undefined;
  readonly onMaxAttempts: OnMaxAttempts;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  initialIntervalMs: 500,
  exponentiationFactor: 2,
  maxIntervalMs: 60_000,
  maxAttempts: 70,
  onMaxAttempts: 'pause',
};

/** The policy with no more attempts than a server allows; undefined = it allows any number. */
export function capAttempts(policy: RetryPolicy, attemptsMax: number | undefined): RetryPolicy {
  if (attemptsMax === undefined || (policy.maxAttempts ?? Infinity) <= attemptsMax) return policy;
  return { ...policy, maxAttempts: attemptsMax };
}

/** Share of the delay that chance may add. */
export const RETRY_JITTER_MAX = 0.3;

/**
 * Delay before the attempt that follows failure number `failures`.
 *
 * @param failures failures so far, at least 1
 * @param chance a number in [0, 1)
 * @returns whole ms from 0 to `limits.RETRY_DELAY_MS_MAX`, or undefined when the policy allows no further attempt
 */
export function nextRetryDelayMs(
  policy: RetryPolicy,
  failures: number,
  chance: number,
): number | undefined {
  if (policy.maxAttempts !== undefined && failures >= policy.maxAttempts) return undefined;
  const grown = policy.initialIntervalMs * policy.exponentiationFactor ** (failures - 1);
  // Deployments choose the numbers: a negative factor has no meaning, and 0 times an endless one is no number.
  const base = grown > 0 ? Math.min(grown, policy.maxIntervalMs) : 0;
  return Math.ceil(Math.min(base * (1 + chance * RETRY_JITTER_MAX), RETRY_DELAY_MS_MAX));
}
