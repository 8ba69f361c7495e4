/** Reads all that an attempt needs to begin: its row, where it goes, and what it is given. */

import type { AttemptFailure, Invocation, InvocationId, JournalEntry } from '@engine/domain';
import type { AttemptStart } from '@engine/attempt';

import { payloadBytesOf } from './attempt-memory.js';
import type { AttemptIdentity } from './attempt-reports.js';
import type { AttemptRoom } from './attempt-room.js';
import { attemptStart, readJournal } from './attempt-start.js';
import { chooseDeployment, serverFailure, type Route } from './choose-deployment.js';

export interface PreparedAttempt {
  readonly kind: 'ready';
  readonly row: Invocation;
  readonly route: Route;
  readonly start: AttemptStart;
  /** Of all that is replayed. */
  readonly payloadBytes: number;
}

interface HopelessAttempt {
  readonly kind: 'failed';
  readonly row: Invocation;
  readonly route: Route | undefined;
  readonly failure: AttemptFailure;
  /** True when another attempt would meet the same. */
  readonly isFinal: boolean;
}

/** `outdated`: a newer decision is on its way to the invoker. */
export type Preparation = PreparedAttempt | HopelessAttempt | { readonly kind: 'outdated' };

/**
 * `prefix`: entries that were read ahead. Failures: as `chooseDeployment`; RT0006 when the store cannot be read; RT0001, final, when
 * the attempt would take more memory than one may.
 */
export function prepareAttempt(
  identity: AttemptIdentity,
  room: AttemptRoom,
  prefix: readonly JournalEntry[],
): Preparation {
  const row = room.state.invocation(identity.invocationId);
  if (row?.status !== 'invoked' || row.attempt !== identity.attempt) return { kind: 'outdated' };
  const route = chooseDeployment(room.schema(), row);
  if (route.kind === 'no-route') {
    return { kind: 'failed', row, route: undefined, failure: route.failure, isFinal: false };
  }
  try {
    const start = readStart(identity.invocationId, { row, route, prefix }, room);
    const payloadBytes = payloadBytesOf(start);
    const bytesMax = room.options.perInvocationBytesMax;
    if (payloadBytes <= bytesMax) return { kind: 'ready', row, route, start, payloadBytes };
    const failure = tooLarge(payloadBytes, bytesMax);
    return { kind: 'failed', row, route, failure, isFinal: true };
  } catch (error) {
    return { kind: 'failed', row, route, failure: unreadable(error), isFinal: false };
  }
}

function readStart(
  id: InvocationId,
  of: {
    readonly row: Invocation;
    readonly route: Route;
    readonly prefix: readonly JournalEntry[];
  },
  { state, processor, clock, options }: AttemptRoom,
): AttemptStart {
  const { row, route, prefix } = of;
  // What is decided and not yet durable will be pushed when it is.
  const to = row.journalLength - processor.unreleasedNotifications(id);
  const tail = readJournal(state, id, { from: prefix.length, to });
  const journal = prefix.length === 0 ? tail : [...prefix, ...tail];
  const { eagerStateBytesMax, messageSizeBytesMax } = options;
  const limits = { eagerStateBytesMax, messageSizeBytesMax, now: clock.now() };
  return attemptStart(id, { row, route, journal, state }, limits);
}

function tooLarge(bytes: number, bytesMax: number): AttemptFailure {
  const what = `journal and state of the invocation take ${String(bytes)} bytes of memory`;
  return serverFailure('RT0001', `${what}, the limit is ${String(bytesMax)}`);
}

/** What the store could not tell about an attempt. */
export function unreadable(error: unknown): AttemptFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return serverFailure('RT0006', `journal or state cannot be read from storage: ${reason}`);
}

/** Exclusive handlers and workflow runs are alone with what they read; shared handlers are not. */
export function readsStateOfOthers(row: Invocation): boolean {
  return row.target.kind === 'object-shared' || row.target.kind === 'workflow-shared';
}
