import { describe, expect, it } from '@jest/globals';

import { LeaseHolder } from './lease-holder.js';
import { leaseTimes } from './lease-times.js';
import { LeaseWatch, type LeaseSign } from './lease-watch.js';

const TIMES = leaseTimes(15_000);

const sign = (revision: bigint, ttlMs = TIMES.ttlMs): LeaseSign => ({ revision, ttlMs });

/** A watch whose own access works every 500 ms up to `until`. */
function sighted(watch: LeaseWatch<string>, from: number, until: number): void {
  for (let now = from; now <= until; now += 500) {
    watch.accessSucceeded('read', now);
    watch.accessSucceeded('write', now);
  }
}

function watching(): LeaseWatch<string> {
  const watch = new LeaseWatch<string>(TIMES);
  sighted(watch, 0, 1_000);
  watch.seen('a', sign(1n), 1_000);
  return watch;
}

describe('the lease of a node, as others see it', () => {
  it('LSE-1 lasts a TTL from the last change that was seen, and no shorter TTL is taken', () => {
    const watch = watching();
    sighted(watch, 1_000, 15_500);
    expect(watch.liveness('a', 15_999)).toBe('alive');
    watch.seen('a', sign(1n), 15_999);
    sighted(watch, 15_500, 16_000);
    expect(watch.liveness('a', 16_000)).toBe('stale');
    watch.seen('a', sign(2n), 16_100);
    expect(watch.liveness('a', 16_100)).toBe('alive');
    expect(() => leaseTimes(14_999)).toThrow('at least');
  });

  it('LSE-1 lasts as long as its holder says, when that is longer than the own TTL', () => {
    const watch = watching();
    watch.seen('a', sign(2n, 30_000), 2_000);
    sighted(watch, 1_000, 32_000);
    expect(watch.isSuspect('a', 21_999)).toBe(false);
    expect(watch.isSuspect('a', 22_000)).toBe(true);
    expect(watch.liveness('a', 31_999)).toBe('alive');
    expect(watch.liveness('a', 32_000)).toBe('stale');
    watch.seen('a', sign(3n, 1), 32_001);
    sighted(watch, 32_000, 46_000);
    expect(watch.liveness('a', 47_000)).toBe('alive');
  });

  it('LSE-2 says nothing while the own reads or writes fail, and gives a full TTL after', () => {
    const watch = watching();
    sighted(watch, 1_000, 14_000);
    watch.accessFailed();
    watch.accessSucceeded('read', 15_000);
    expect(watch.liveness('a', 17_000)).toBe('unknown');
    watch.accessSucceeded('write', 20_001);
    expect(watch.liveness('a', 20_001)).toBe('unknown');
    watch.accessSucceeded('read', 20_100);
    expect(watch.liveness('a', 20_100)).toBe('alive');
    sighted(watch, 20_100, 35_000);
    expect(watch.liveness('a', 35_050)).toBe('alive');
    expect(watch.liveness('a', 35_100)).toBe('stale');
  });

  it('LSE-2 an access that hangs, and a pause of the observer, are outages too', () => {
    const watch = watching();
    expect(watch.liveness('a', 1_000 + TIMES.accessFreshMs + 1)).toBe('unknown');
    const paused = watching();
    paused.accessSucceeded('write', 60_000);
    paused.accessSucceeded('read', 60_000);
    expect(paused.liveness('a', 60_000)).toBe('alive');
    sighted(paused, 60_000, 75_000);
    expect(paused.liveness('a', 75_000)).toBe('stale');
  });

  it('LSE-3 a goodbye counts at once, until the next start', () => {
    const watch = watching();
    watch.goodbye('a', 2n, 1_100);
    expect(watch.liveness('a', 1_100)).toBe('gone');
    watch.goodbye('a', 1n, 1_150);
    watch.seen('a', sign(3n), 1_200);
    watch.goodbye('a', 2n, 1_250);
    expect(watch.liveness('a', 1_250)).toBe('alive');
  });

  it('LSE-4 refused connections count when they last longer than a renewal', () => {
    const watch = watching();
    for (let now = 1_500; now <= 2_500; now += 1_000) watch.refused('a', now);
    sighted(watch, 1_000, 4_500);
    expect(watch.liveness('a', 3_400)).toBe('alive');
    watch.refused('a', 3_500);
    expect(watch.liveness('a', 3_500)).toBe('refused');
    watch.seen('a', sign(2n), 3_600);
    expect(watch.liveness('a', 3_600)).toBe('alive');
  });

  it('LSE-4 a process that can be reached again, or renews, is not refused', () => {
    const watch = watching();
    sighted(watch, 1_000, 9_000);
    watch.refused('a', 1_500);
    watch.reached('a');
    watch.refused('a', 4_500);
    expect(watch.liveness('a', 4_500)).toBe('alive');
    watch.seen('a', sign(2n), 6_000);
    watch.refused('a', 7_500);
    expect(watch.liveness('a', 7_500)).toBe('alive');
  });

  it('somebody who was never seen is gone', () => {
    expect(watching().liveness('b', 1_000)).toBe('gone');
  });
});

describe('the lease of a node, as it sees it itself', () => {
  it('LSE-5 ends after two thirds of the TTL, counted from when the renewal was sent', () => {
    const holder = new LeaseHolder(TIMES);
    expect(holder.state(0)).toBe('lost');
    holder.renewed(1_000);
    expect(holder.isHeld(10_999)).toBe(true);
    expect(holder.heldUntil(5_000)).toBe(11_000);
    expect(holder.state(11_000)).toBe('lapsed');
    expect(holder.heldUntil(11_000)).toBeUndefined();
    holder.renewed(12_000);
    holder.renewed(11_500);
    expect(holder.heldUntil(13_000)).toBe(22_000);
    holder.lost(12_500);
    holder.renewed(12_400);
    expect(holder.state(13_000)).toBe('lost');
  });

  it('LSE-5 lets go before anybody counts it dead', () => {
    for (const ttlMs of [15_000, 20_000, 60_000]) {
      const times = leaseTimes(ttlMs);
      expect(times.abortAfterMs).toBeLessThan(times.ttlMs);
      expect(times.abortAfterMs).toBeGreaterThan(8_000);
      const afterOutage = times.renewalIntervalMs + 8_000 + times.renewalRetryMs;
      expect(afterOutage).toBeLessThan(times.abortAfterMs);
      expect(times.refusedForMs).toBeGreaterThan(times.renewalIntervalMs);
    }
  });
});
