/** What operators do on purpose: nobody may notice more than latency. */

import { waitUntil } from '@engine-test/support';

import type { System } from '../systems/system.js';
import { membersOf, nothing, type Fault, type Scene } from './fault.js';

const WHOLE_MS_MAX = 120_000;
const SLOWEST_MS_MAX = 10_000;
const WORKERS_MAX = 4;

function move(
  name: string,
  { weight, isPossible }: Pick<Fault, 'weight' | 'isPossible'>,
  story: (scene: Scene) => Promise<string>,
): Fault {
  return {
    name,
    weight,
    msMax: SLOWEST_MS_MAX,
    figure: 'slowest',
    mayFail: false,
    isPossible,
    strike: async (scene) => ({ what: await story(scene), lastsMs: 0, heal: nothing }),
  };
}

function untilWhole(system: System): Promise<boolean> {
  return waitUntil('the cluster is whole', () => system.isWhole(), WHOLE_MS_MAX);
}

const workers = (system: System): number => membersOf(system, 'worker').length;

/** One worker after the other, each when all is whole again. */
const rolling = move(
  'workers-rolling',
  { weight: 2, isPossible: (system) => workers(system) > 1 },
  async ({ system }) => {
    const all = membersOf(system, 'worker');
    for (const worker of all) {
      await worker.stop();
      await worker.start();
      await untilWhole(system);
    }
    return `${String(all.length)} workers`;
  },
);

const add = move(
  'worker-add',
  { weight: 1, isPossible: (system) => workers(system) < WORKERS_MAX && canGrow(system) },
  async ({ system }) => {
    const name = await system.addWorker?.();
    await untilWhole(system);
    return name ?? '';
  },
);

const remove = move(
  'worker-remove',
  { weight: 1, isPossible: (system) => workers(system) > 2 && canGrow(system) },
  async ({ system, chance }) => {
    const { name } = chance.pick(membersOf(system, 'worker'));
    await system.removeWorker?.(name);
    await untilWhole(system);
    return name;
  },
);

function canGrow(system: System): boolean {
  return system.addWorker !== undefined;
}

export const MOVES: readonly Fault[] = [rolling, add, remove];
