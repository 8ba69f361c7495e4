/** Faults of the embedded engine. Nobody takes over: callers get errors until it is back, and nothing may be lost. */

import { waitUntil } from '@engine-test/support';

import type { Member, System } from '../systems/system.js';
import { membersOf, nothing, type Fault, type Scene, type Wound } from './fault.js';

const SERVES_AGAIN_MS_MAX = 20_000;
const FULL_DISK_MS = 4_000;
/** A failed write ends the engine; what it still can do it does before, for a minute at most. */
const ENDS_MS_MAX = 90_000;
/** Its clock is the only one: what jumps further ahead lets sleepers wake early, and nobody could know. */
const CLOCK_JUMPS_MS = [-3_600_000, -5_000, 1_500];

function ofEngine(
  name: string,
  weight: number,
  strike: (engine: Member, scene: Scene) => Promise<Wound>,
): Fault {
  const engineOf = (system: System): Member | undefined => membersOf(system, 'engine')[0];
  return {
    name,
    weight,
    msMax: SERVES_AGAIN_MS_MAX,
    figure: 'first-success',
    mayFail: true,
    isPossible: (system) => engineOf(system) !== undefined,
    strike: (scene) => {
      const engine = engineOf(scene.system);
      if (engine === undefined) throw new Error('there is no engine');
      return strike(engine, scene);
    },
  };
}

const kill = ofEngine('engine-kill', 6, async (engine) => {
  await engine.kill();
  await engine.start();
  return { what: 'killed and started', lastsMs: 0, heal: nothing };
});

const restart = ofEngine('engine-restart', 2, async (engine) => {
  await engine.stop();
  await engine.start();
  return { what: 'stopped and started', lastsMs: 0, heal: nothing };
});

const freeze = ofEngine('engine-freeze', 2, (engine, { chance }) => {
  engine.freeze();
  return Promise.resolve({
    what: 'frozen',
    lastsMs: chance.between(500, 6_000),
    heal: () => {
      engine.thaw();
      return Promise.resolve();
    },
  });
});

const clock = ofEngine('engine-clock', 2, (engine, { chance }) => {
  const ms = chance.pick(CLOCK_JUMPS_MS);
  engine.moveClock?.(ms);
  return Promise.resolve({
    what: `clock off by ${String(ms)} ms`,
    lastsMs: 3_000,
    heal: () => {
      engine.moveClock?.(0);
      return Promise.resolve();
    },
  });
});

/** It stops, because it can't know what the disk has; with room again it starts. */
const fullDisk: Fault = {
  ...ofEngine('engine-disk-full', 1, (engine) => {
    engine.fillDisk?.();
    return Promise.resolve({
      what: 'disk full',
      lastsMs: FULL_DISK_MS,
      heal: async () => {
        engine.freeDisk();
        await waitUntil('the engine has ended', () => !engine.isRunning, ENDS_MS_MAX);
        await engine.start();
      },
    });
  }),
  msMax: undefined,
  isPossible: (system) => membersOf(system, 'engine')[0]?.fillDisk !== undefined,
};

export const FAULTS_OF_ONE_ENGINE: readonly Fault[] = [kill, restart, freeze, clock, fullDisk];
