import { describe, expect, it } from '@jest/globals';
import { systemClock, type Clock } from './clock.js';
import { seededRandom, systemRandom } from './random.js';
import { createUlidFactory } from './ulid.js';

describe('systemClock', () => {
  it('gives the date and a clock that does not go back', () => {
    expect(systemClock.now()).toBeGreaterThan(Date.UTC(2024, 0, 1));
    const first = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
  });
});

describe('Random', () => {
  it('hands out bytes that nobody else holds', () => {
    const first = systemRandom.bytes(16);
    const kept = Uint8Array.from(first);
    for (let i = 0; i < 1000; i += 1) systemRandom.bytes(16).fill(0);
    expect([...first]).toEqual([...kept]);
    expect(systemRandom.bytes(10_000)).toHaveLength(10_000);
    expect(systemRandom.float()).toBeLessThan(1);
  });

  it('repeats itself with the same seed and differs with another', () => {
    const [a, b, c] = [seededRandom(7), seededRandom(7), seededRandom(8)];
    const bytes = [...a.bytes(8)];
    expect([...b.bytes(8)]).toEqual(bytes);
    expect([...c.bytes(8)]).not.toEqual(bytes);
    const numbers = Array.from({ length: 1000 }, () => a.float());
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
  });
});

describe('createUlidFactory', () => {
  it('puts 48 bits of milliseconds in front', () => {
    const clock: Clock = { now: () => 0x0190_1234_5678, monotonic: () => 0 };
    const ulid = createUlidFactory(clock, seededRandom(1))();
    expect(ulid).toHaveLength(16);
    expect([...ulid.subarray(0, 6)]).toEqual([0x01, 0x90, 0x12, 0x34, 0x56, 0x78]);
    expect(new Set(ulid.subarray(6)).size).toBeGreaterThan(1);
  });
});
