import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RETRY_DELAY_MS_MAX } from './limits.js';
import { DEFAULT_RETRY_POLICY, nextRetryDelayMs, type RetryPolicy } from './retry-policy.js';

const policy = (parts: Partial<RetryPolicy>): RetryPolicy => ({
  ...DEFAULT_RETRY_POLICY,
  ...parts,
});

describe('the wait before a retry', () => {
  it('grows up to the largest interval', () => {
    const waits = [1, 2, 3, 8, 69].map((failures) => nextRetryDelayMs(policy({}), failures, 0));
    expect(waits).toEqual([500, 1_000, 2_000, 60_000, 60_000]);
    expect(nextRetryDelayMs(policy({}), 1, 0.5)).toBe(575);
    expect(nextRetryDelayMs(policy({}), 70, 0)).toBeUndefined();
  });

  it('is over after the last attempt, which may be the first', () => {
    expect(nextRetryDelayMs(policy({ maxAttempts: 1 }), 1, 0)).toBeUndefined();
    expect(nextRetryDelayMs(policy({ maxAttempts: 2 }), 1, 0)).toBe(500);
    expect(nextRetryDelayMs(policy({ maxAttempts: undefined }), 1_000_000, 0)).toBe(60_000);
  });

  it('is a year at most', () => {
    const slow = policy({ initialIntervalMs: 2 ** 53, maxIntervalMs: 2 ** 53 });
    expect(nextRetryDelayMs(slow, 1, 0.9)).toBe(RETRY_DELAY_MS_MAX);
  });

  it('is no wait where the policy makes no sense', () => {
    const endless = { maxAttempts: undefined };
    const zero = policy({ ...endless, initialIntervalMs: 0 });
    expect(nextRetryDelayMs(zero, 2_000, 0.9)).toBe(0);
    const negative = policy({ ...endless, exponentiationFactor: -1e300 });
    expect(nextRetryDelayMs(negative, 2, 0.9)).toBe(0);
  });

  it('is never negative and always a number, whatever a deployment asks for', () => {
    const ms = fc.oneof(fc.constant(0), fc.maxSafeNat());
    const policies = fc.record({
      initialIntervalMs: ms,
      maxIntervalMs: ms,
      exponentiationFactor: fc.double({ noDefaultInfinity: true, noNaN: true }),
      maxAttempts: fc.constant(undefined),
      onMaxAttempts: fc.constant('pause' as const),
    });
    fc.assert(
      fc.property(
        policies,
        fc.integer({ min: 1 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (...args) => {
          expect(nextRetryDelayMs(...args)).toBeGreaterThanOrEqual(0);
          expect(nextRetryDelayMs(...args)).toBeLessThanOrEqual(RETRY_DELAY_MS_MAX);
        },
      ),
    );
  });
});
