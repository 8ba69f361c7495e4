/** Faults of workers: somebody else takes their partitions over, and callers see latency, never an error. */

import type { Member } from '../systems/system.js';
import {
  ledBy,
  membersOf,
  nothing,
  withCuts,
  type Fault,
  type Scene,
  type Wound,
} from './fault.js';

/** Shortest time to live of a node's lease that the engine takes; clusters of this suite run with it. */
export const LEASE_TTL_MS = 15_000;
const KILLED_MS_MAX = 5_000;
/** It goes on by its own count of time: nobody has to take over. */
const CLOCK_MS_MAX = 2_000;
const MOVED_MS_MAX = 10_000;
const SILENT_MS_MAX = LEASE_TTL_MS + 5_000;
const SHORT_MS = { min: 500, max: 4_000 };
const CLOCK_JUMPS_MS = [-3_600_000, -5_000, 5_000, 3_600_000];

type Story = (worker: Member, scene: Scene) => Promise<Wound>;

interface WorkerFault {
  readonly name: string;
  readonly weight: number;
  readonly limitMs: number | undefined;
  readonly figure?: Fault['figure'];
}

/** Somebody must be there to take over. */
function ofWorker({ name, weight, limitMs, figure }: WorkerFault, story: Story): Fault {
  return {
    name,
    weight,
    msMax: limitMs,
    figure: figure ?? 'first-success',
    mayFail: false,
    isPossible: (system) => membersOf(system, 'worker').length > 1,
    strike: async (scene) => story(await aLeadingWorker(scene), scene),
  };
}

/** One that leads something, if there is any. */
async function aLeadingWorker({ system, chance }: Scene): Promise<Member> {
  const workers = membersOf(system, 'worker');
  const leaders = new Set((await system.leaders()).values());
  const leading = workers.filter(({ name }) => leaders.has(name));
  return chance.pick(leading.length > 0 ? leading : workers);
}

const kill = ofWorker(
  { name: 'worker-kill', weight: 5, limitMs: KILLED_MS_MAX },
  async (worker, { system }) => {
    const partitions = await ledBy(system, worker.name);
    const struckAt = performance.now();
    await worker.kill();
    return {
      what: `${worker.name}, ${String(partitions.length)} partitions`,
      partitions,
      struckAt,
      lastsMs: 'until-served',
      heal: () => worker.start(),
    };
  },
);

const restart = ofWorker(
  { name: 'worker-restart', weight: 3, limitMs: MOVED_MS_MAX, figure: 'slowest' },
  async (worker) => {
    await worker.stop();
    await worker.start();
    return { what: worker.name, lastsMs: 0, heal: nothing };
  },
);

function silenced(
  options: WorkerFault & { readonly lastsMs: (scene: Scene) => number },
  verbs: { readonly strike: (worker: Member) => void; readonly heal: (worker: Member) => void },
): Fault {
  return ofWorker(options, async (worker, scene) => {
    const partitions = await ledBy(scene.system, worker.name);
    const lastsMs = options.lastsMs(scene);
    const struckAt = performance.now();
    verbs.strike(worker);
    return {
      what: `${worker.name} for ${String(lastsMs)} ms, ${String(partitions.length)} partitions`,
      partitions,
      struckAt,
      lastsMs,
      heal: () => {
        verbs.heal(worker);
        return Promise.resolve();
      },
    };
  });
}

const short = ({ chance }: Scene): number => chance.between(SHORT_MS.min, SHORT_MS.max);
const long = ({ chance }: Scene): number => SILENT_MS_MAX + chance.between(2_000, 8_000);

const freezing = {
  strike: (worker: Member): void => {
    worker.freeze();
  },
  heal: (worker: Member): void => {
    worker.thaw();
  },
};
const cutting = {
  strike: (worker: Member): void => {
    worker.cut?.();
  },
  heal: (worker: Member): void => {
    worker.mend();
  },
};

const freezeShort = silenced(
  { name: 'worker-freeze-short', weight: 3, limitMs: SHORT_MS.max + 3_000, lastsMs: short },
  freezing,
);
const freezeLong = silenced(
  { name: 'worker-freeze-long', weight: 3, limitMs: SILENT_MS_MAX, lastsMs: long },
  freezing,
);
const cutShort = silenced(
  { name: 'worker-cut-short', weight: 3, limitMs: SHORT_MS.max + 5_000, lastsMs: short },
  cutting,
);
const cutLong = silenced(
  { name: 'worker-cut-long', weight: 3, limitMs: SILENT_MS_MAX, lastsMs: long },
  cutting,
);

const clock = ofWorker(
  { name: 'worker-clock', weight: 3, limitMs: CLOCK_MS_MAX },
  async (worker, { system, chance }) => {
    const partitions = await ledBy(system, worker.name);
    const ms = chance.pick(CLOCK_JUMPS_MS);
    const struckAt = performance.now();
    worker.moveClock?.(ms);
    return {
      what: `${worker.name} by ${String(ms)} ms, ${String(partitions.length)} partitions`,
      partitions,
      struckAt,
      lastsMs: chance.between(2_000, 10_000),
      heal: () => {
        worker.moveClock?.(0);
        return Promise.resolve();
      },
    };
  },
);

/** It can't keep its store, so it ends; the log has everything. */
const fullDisk: Fault = {
  ...ofWorker(
    { name: 'worker-disk-full', weight: 2, limitMs: undefined },
    async (worker, { system }) => {
      const partitions = await ledBy(system, worker.name);
      const struckAt = performance.now();
      worker.fillDisk?.();
      return {
        what: `${worker.name}, ${String(partitions.length)} partitions`,
        partitions,
        struckAt,
        lastsMs: 6_000,
        heal: async () => {
          worker.freeDisk();
          if (!worker.isRunning) await worker.start();
        },
      };
    },
  ),
  isPossible: (system) => {
    const workers = membersOf(system, 'worker');
    return workers.length > 1 && workers.every(({ fillDisk }) => fillDisk !== undefined);
  },
};

/** Nobody is left to take over: everybody waits until they are back. */
const killAll: Fault = {
  ...ofWorker(
    { name: 'workers-kill-all', weight: 1, limitMs: undefined },
    async (_worker, { system }) => {
      const workers = membersOf(system, 'worker');
      const struckAt = performance.now();
      await Promise.all(workers.map((worker) => worker.kill()));
      return {
        what: `${String(workers.length)} workers`,
        struckAt,
        lastsMs: 1_000,
        heal: async () => {
          await Promise.all(workers.map((worker) => worker.start()));
        },
      };
    },
  ),
};

export const FAULTS_OF_WORKERS: readonly Fault[] = [
  kill,
  restart,
  freezeShort,
  freezeLong,
  withCuts(cutShort),
  withCuts(cutLong),
  clock,
  fullDisk,
  killAll,
];
