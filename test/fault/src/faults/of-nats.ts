/** Faults of NATS: nothing is acknowledged meanwhile, and nothing that was acknowledged is lost. */

import type { Member } from '../systems/system.js';
import { membersOf, withCuts, type Fault, type Scene, type Wound } from './fault.js';

const LEADER_KILLED_MS_MAX = 10_000;
/** Two of three. */
const MAJORITY = 2;
const FULL_DISK_MS = 5_000;

interface NatsFault {
  readonly name: string;
  readonly weight: number;
  readonly limitMs: number | undefined;
  readonly mayFail?: boolean;
}

function ofNats(
  { name, weight, limitMs, mayFail }: NatsFault,
  strike: (nodes: readonly Member[], scene: Scene) => Promise<Wound>,
): Fault {
  return {
    name,
    weight,
    msMax: limitMs,
    figure: 'first-success',
    mayFail: mayFail ?? false,
    isPossible: (system) => membersOf(system, 'nats').length > MAJORITY,
    strike: (scene) => strike(membersOf(scene.system, 'nats'), scene),
  };
}

/** The server that leads the log of some partition. */
async function aStreamLeader(nodes: readonly Member[], { system, chance }: Scene): Promise<Member> {
  const partition = chance.between(0, system.partitionCount - 1);
  const name = await system.logLeader?.(partition);
  return nodes.find((node) => node.name === name) ?? chance.pick(nodes);
}

const leaderKill = ofNats(
  { name: 'nats-leader-kill', weight: 4, limitMs: LEADER_KILLED_MS_MAX },
  async (nodes, scene) => {
    const leader = await aStreamLeader(nodes, scene);
    const struckAt = performance.now();
    await leader.kill();
    return {
      what: leader.name,
      struckAt,
      lastsMs: 'until-served',
      heal: () => leader.start(),
    };
  },
);

const leaderFreeze = ofNats(
  { name: 'nats-leader-freeze', weight: 2, limitMs: undefined },
  async (nodes, scene) => {
    const leader = await aStreamLeader(nodes, scene);
    const lastsMs = scene.chance.between(1_000, 15_000);
    const struckAt = performance.now();
    leader.freeze();
    return {
      what: `${leader.name} for ${String(lastsMs)} ms`,
      struckAt,
      lastsMs,
      heal: () => {
        leader.thaw();
        return Promise.resolve();
      },
    };
  },
);

const leaderCut = ofNats(
  { name: 'nats-leader-cut', weight: 2, limitMs: undefined },
  async (nodes, scene) => {
    const leader = await aStreamLeader(nodes, scene);
    const lastsMs = scene.chance.between(1_000, 15_000);
    const struckAt = performance.now();
    leader.cut?.();
    return {
      what: `${leader.name} for ${String(lastsMs)} ms`,
      struckAt,
      lastsMs,
      heal: () => {
        leader.mend();
        return Promise.resolve();
      },
    };
  },
);

const rolling = ofNats(
  { name: 'nats-restart', weight: 1, limitMs: undefined },
  async (nodes, { chance }) => {
    const node = chance.pick(nodes);
    await node.stop();
    return { what: node.name, lastsMs: 'until-served', heal: () => node.start() };
  },
);

const majorityKill = ofNats(
  { name: 'nats-majority-kill', weight: 2, limitMs: undefined },
  async (nodes, { chance }) => {
    const spared = chance.pick(nodes);
    const hit = nodes.filter((node) => node !== spared);
    const lastsMs = chance.between(1_000, 20_000);
    const struckAt = performance.now();
    await Promise.all(hit.map((node) => node.kill()));
    return {
      what: `all but ${spared.name} for ${String(lastsMs)} ms`,
      struckAt,
      lastsMs,
      heal: () => startAll(hit),
    };
  },
);

/** nats-servers that find no room stop their JetStream, and have to be started again. */
const fullDisk: Fault = {
  ...ofNats(
    { name: 'nats-disk-full', weight: 1, limitMs: undefined, mayFail: true },
    async (nodes, { system, pause }) => {
      const struckAt = performance.now();
      system.fillLogDisk?.();
      await pause(FULL_DISK_MS);
      return {
        what: `${String(nodes.length)} servers on one disk`,
        struckAt,
        lastsMs: 0,
        heal: async () => {
          system.freeLogDisk?.();
          await Promise.all(nodes.map((node) => node.kill()));
          await startAll(nodes);
        },
      };
    },
  ),
  isPossible: (system) => system.fillLogDisk !== undefined,
};

/** At once: none of them is healthy before there is a majority. */
async function startAll(nodes: readonly Member[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.start()));
}

export const FAULTS_OF_NATS: readonly Fault[] = [
  leaderKill,
  leaderFreeze,
  withCuts(leaderCut),
  rolling,
  majorityKill,
  fullDisk,
];
