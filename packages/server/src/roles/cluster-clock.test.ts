import { describe, expect, it } from '@jest/globals';
import { SteadyClock, systemScheduler } from '@engine/runtime';

import { ClockKeeper } from './cluster-clock.js';

const JUMP_MS = 5_000;

/** A machine whose clock is set by the test; the servers have the right time. */
class Machine {
  wrongByMs = 0;

  now(): number {
    return Date.now() + this.wrongByMs;
  }

  monotonic(): number {
    return performance.now();
  }
}

async function keep(reference: () => Promise<number>, change: (machine: Machine) => void) {
  const machine = new Machine();
  const steady = new SteadyClock(machine);
  change(machine);
  const asked = Promise.withResolvers<undefined>();
  const keeper = new ClockKeeper({
    steady,
    machine,
    scheduler: systemScheduler,
    reference: async () => {
      const time = await reference();
      asked.resolve(undefined);
      return time;
    },
  });
  await keeper.start();
  await asked.promise;
  await keeper[Symbol.asyncDispose]();
  return steady;
}

describe('ClockKeeper', () => {
  it('does not follow a clock that was set to a wrong time', async () => {
    const right = () => Promise.resolve(Date.now());
    const steady = await keep(right, (machine) => {
      machine.wrongByMs = JUMP_MS;
    });
    expect(Math.abs(steady.now() - Date.now())).toBeLessThan(JUMP_MS / 2);
  });

  it('follows a clock that was set right, as after a sleep of the machine', async () => {
    const ahead = () => Promise.resolve(Date.now() + JUMP_MS);
    const steady = await keep(ahead, (machine) => {
      machine.wrongByMs = JUMP_MS;
    });
    expect(Math.abs(steady.now() - Date.now() - JUMP_MS)).toBeLessThan(JUMP_MS / 2);
  });
});
