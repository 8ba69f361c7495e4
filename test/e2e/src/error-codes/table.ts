/**
 * The error table: every documented code, where a person meets it, and what provokes it. A code without a line does not compile; a
 * line whose cause does not bring the code to each of its places fails.
 */

import type { ErrorCode } from '@engine/domain';

import * as attempts from './attempts.js';
import * as registrations from './registrations.js';
import type { Place, Sighting } from './sighting.js';
import type { Stage } from './stage.js';
import * as starts from './starts.js';
import * as stored from './stored.js';

export type Provoke = (stage: Stage) => Promise<readonly Sighting[]>;

export interface ProvokedLine {
  /** In the order of the page. Each has to be seen. */
  readonly shows: readonly Place[];
  /** Brings the code about in a real process, and looks at all of its places. */
  readonly provoke: Provoke;
}

export type ErrorLine =
  | ProvokedLine
  /** Not raised yet, and why. */
  | { readonly shows: readonly Place[]; readonly later: string };

const REGISTRATION: readonly Place[] = ['admin'];
const START: readonly Place[] = ['start'];
const ATTEMPT: readonly Place[] = ['last-failure', 'log'];
const HINT: readonly Place[] = ['metadata'];

export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorLine>> = {
  META0003: { shows: REGISTRATION, provoke: registrations.unreachable },
  META0004: { shows: REGISTRATION, provoke: registrations.registeredTwice },
  META0005: { shows: ['admin', 'start'], provoke: reservedNameAndDamage },
  META0006: { shows: REGISTRATION, provoke: registrations.typeChanged },
  META0009: { shows: REGISTRATION, later: 'there are no subscriptions yet' },
  META0010: { shows: START, provoke: starts.newerMetadata },
  META0011: { shows: START, provoke: starts.metadataWithoutFormat },
  META0012: { shows: REGISTRATION, provoke: registrations.noCommonVersion },
  META0013: { shows: REGISTRATION, provoke: registrations.badAnswer },
  META0014: { shows: REGISTRATION, provoke: registrations.oldHttp },
  META0015: { shows: REGISTRATION, provoke: registrations.streamsWhereNoneCan },
  META0016: { shows: REGISTRATION, provoke: registrations.unlikeUpdate },
  META0017: { shows: REGISTRATION, provoke: registrations.ambiguousForce },
  RT0001: { shows: ATTEMPT, provoke: attempts.silent },
  RT0002: { shows: START, provoke: starts.unreadableConfiguration },
  RT0003: { shows: ATTEMPT, provoke: attempts.tooLargeMessage },
  RT0004: { shows: START, provoke: starts.takenAddress },
  RT0005: { shows: START, provoke: starts.lockedDirectories },
  RT0006: { shows: ATTEMPT, provoke: stored.damagedJournal },
  RT0007: { shows: ATTEMPT, provoke: attempts.failingHandler },
  RT0009: { shows: START, provoke: starts.foreignStorage },
  RT0010: { shows: ATTEMPT, provoke: attempts.goneDeployment },
  RT0011: { shows: ATTEMPT, provoke: attempts.removedDeployment },
  RT0012: { shows: ATTEMPT, provoke: attempts.unknownFrame },
  RT0013: { shows: ATTEMPT, provoke: stored.versionOfAnotherServer },
  RT0014: { shows: ATTEMPT, provoke: attempts.droppedVersion },
  RT0015: { shows: ATTEMPT, provoke: attempts.refusedVersion },
  RT0016: { shows: ATTEMPT, provoke: attempts.divergingHandler },
  RT0017: { shows: ATTEMPT, provoke: attempts.stateOfService },
  RT0018: { shows: ATTEMPT, provoke: attempts.unknownCallee },
  RT0019: { shows: ATTEMPT, provoke: attempts.tooLargeJournal },
  RT0020: {
    shows: ['last-failure', 'ingress', 'metadata', 'log'],
    provoke: stored.outdatedDeployment,
  },
  RT0021: { shows: HINT, provoke: registrations.idleTimeoutWithoutStream },
  RT0022: { shows: HINT, provoke: registrations.longRetention },
  RT0023: { shows: ATTEMPT, provoke: attempts.tooManyRequests },
  RT0024: { shows: ['last-failure', 'ingress', 'log'], provoke: attempts.scoped },
  RT0025: { shows: ATTEMPT, provoke: attempts.deepWait },
};

async function reservedNameAndDamage(stage: Stage): Promise<Sighting[]> {
  return [...(await registrations.reservedName(stage)), ...(await starts.damagedMetadata())];
}
