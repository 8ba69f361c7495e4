/** Faults of admins and ingresses: callers of the others don't notice. */

import type { Member } from '../systems/system.js';
import { membersOf, withCuts, type Fault, type Wound } from './fault.js';
import { LEASE_TTL_MS } from './of-workers.js';

/** Nothing has to wait for them; starting processes share a small machine with everybody. */
const UNNOTICED_MS_MAX = 5_000;
const LASTS_MS = { min: 1_000, max: LEASE_TTL_MS + 5_000 };

type Front = 'admin' | 'ingress';

interface Verb {
  readonly name: string;
  readonly weight: number;
  strike(member: Member): Promise<void> | void;
  heal(member: Member): Promise<void> | void;
}

const VERBS: readonly Verb[] = [
  { name: 'kill', weight: 3, strike: (front) => front.kill(), heal: (front) => front.start() },
  {
    name: 'restart',
    weight: 1,
    strike: (front) => front.stop(),
    heal: (front) => front.start(),
  },
  {
    name: 'freeze',
    weight: 1,
    strike: (front) => {
      front.freeze();
    },
    heal: (front) => {
      front.thaw();
    },
  },
  {
    name: 'cut',
    weight: 1,
    strike: (front) => {
      front.cut?.();
    },
    heal: (front) => {
      front.mend();
    },
  },
];

function ofFront(role: Front, verb: Verb): Fault {
  return {
    name: `${role}-${verb.name}`,
    weight: verb.weight,
    msMax: UNNOTICED_MS_MAX,
    figure: 'slowest',
    mayFail: false,
    isPossible: (system) => membersOf(system, role).length > 1,
    strike: async ({ system, chance }): Promise<Wound> => {
      const members = membersOf(system, role);
      const front = chance.pick(members);
      const lastsMs = chance.between(LASTS_MS.min, LASTS_MS.max);
      const ingressUrl =
        role === 'ingress' ? system.ingressUrls[members.indexOf(front)] : undefined;
      await verb.strike(front);
      return {
        what: `${front.name} for ${String(lastsMs)} ms`,
        ingressUrl,
        lastsMs,
        heal: async () => {
          await verb.heal(front);
        },
      };
    },
  };
}

const ofVerb = (verb: Verb): Fault[] => [ofFront('admin', verb), ofFront('ingress', verb)];

export const FAULTS_OF_FRONTS: readonly Fault[] = VERBS.flatMap((verb) =>
  verb.name === 'cut' ? ofVerb(verb).map(withCuts) : ofVerb(verb),
);
