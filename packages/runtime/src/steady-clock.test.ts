import { describe, expect, it } from '@jest/globals';

import { SteadyClock } from './steady-clock.js';

/** A machine whose clock is set by the test. */
class Machine {
  wall = 1_000_000;
  elapsed = 500.25;

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.elapsed;
  }

  pass(ms: number): void {
    this.wall += ms;
    this.elapsed += ms;
  }
}

describe('SteadyClock', () => {
  it('goes with the machine while its clock is not set', () => {
    const machine = new Machine();
    const clock = new SteadyClock(machine);
    expect(clock.now()).toBe(1_000_000);
    machine.pass(1_234);
    expect(clock.now()).toBe(1_001_234);
    expect(clock.monotonic()).toBe(machine.elapsed);
    expect(clock.behindMs).toBe(0);
  });

  it('goes on as before when the clock is set, until that is adopted', () => {
    const machine = new Machine();
    const clock = new SteadyClock(machine);
    machine.wall += 5_000;
    machine.pass(100);
    expect(clock.now()).toBe(1_000_100);
    expect(clock.behindMs).toBe(5_000);
    clock.adopt();
    expect(clock.now()).toBe(1_005_100);
    expect(clock.behindMs).toBe(0);
    machine.wall -= 7_000;
    expect(clock.now()).toBe(1_005_100);
    expect(clock.behindMs).toBe(-7_000);
  });
});
