/** Invocations, journals and state as introspection sees them. */

import type { DeploymentId, InvocationId } from '@engine/domain';

import { required } from '../codec.js';
import * as gen from '../gen/engine/worker/v1/worker.js';
import type { Awaiting, InvocationSnapshot, LiveAttempt } from '../services/invocation-scan.js';
import type { JournalSnapshot } from '../services/journal-scan.js';
import type { StateSnapshot } from '../services/state-scan.js';
import { invocationFromWire, invocationToWire } from '../store/invocation.js';
import { journalEntryFromWire, journalEntryToWire } from '../store/journal.js';
import { awaitTreeFromWire, awaitTreeToWire } from '../store/notification.js';
import { failureFromWire, failureToWire } from '../store/result.js';

export function snapshotToWire(snapshot: InvocationSnapshot): gen.InvocationSnapshot {
  return {
    id: snapshot.id,
    invocation: invocationToWire(snapshot.invocation),
    live: snapshot.live === undefined ? undefined : liveToWire(snapshot.live),
    failure: snapshot.failure === undefined ? undefined : failureToWire(snapshot.failure),
    awaiting: snapshot.awaiting,
  };
}

export function snapshotFromWire(message: gen.InvocationSnapshot): InvocationSnapshot {
  return {
    id: message.id as InvocationId,
    invocation: invocationFromWire(required(message.invocation, 'invocation')),
    live: message.live === undefined ? undefined : liveFromWire(message.live),
    failure: message.failure === undefined ? undefined : failureFromWire(message.failure),
    awaiting: message.awaiting === undefined ? undefined : awaitingFromWire(message.awaiting),
  };
}

export function journalSnapshotToWire(snapshot: JournalSnapshot): gen.JournalSnapshot {
  const { id, index, entry } = snapshot;
  return { id, index, entry: journalEntryToWire(entry) };
}

export function journalSnapshotFromWire(message: gen.JournalSnapshot): JournalSnapshot {
  return {
    id: message.id as InvocationId,
    index: message.index,
    entry: journalEntryFromWire(required(message.entry, 'journal entry')),
  };
}

export function stateSnapshotToWire(snapshot: StateSnapshot): gen.StateSnapshot {
  const { partitionKey, service, key, stateKey, value } = snapshot;
  return { partitionKey, position: { service, key, stateKey }, value };
}

export function stateSnapshotFromWire(message: gen.StateSnapshot): StateSnapshot {
  const { service, key, stateKey } = required(message.position, 'position of a state value');
  return { partitionKey: message.partitionKey, service, key, stateKey, value: message.value };
}

function liveToWire(live: LiveAttempt): gen.LiveAttempt {
  return {
    isInFlight: live.isInFlight,
    retryCount: live.retryCount,
    lastStartAt: live.lastStartAt,
    nextRetryAt: live.nextRetryAt,
    deploymentId: live.deploymentId,
    server: live.server,
    awaitingOn: live.awaitingOn === undefined ? undefined : awaitTreeToWire(live.awaitingOn),
    lastHeardAt: live.lastHeardAt,
  };
}

function awaitingFromWire({ on, since }: gen.Awaiting): Awaiting {
  return { on, since };
}

function liveFromWire(message: gen.LiveAttempt): LiveAttempt {
  return {
    isInFlight: message.isInFlight,
    retryCount: message.retryCount,
    lastStartAt: message.lastStartAt,
    nextRetryAt: message.nextRetryAt,
    deploymentId: message.deploymentId as DeploymentId | undefined,
    server: message.server,
    awaitingOn:
      message.awaitingOn === undefined ? undefined : awaitTreeFromWire(message.awaitingOn),
    lastHeardAt: message.lastHeardAt,
  };
}

/** Bytes that rows of scans take on the wire, by what they are. Encodes them: not for hot paths. */
export const wireSizeOf = {
  invocation: (message: gen.InvocationSnapshot): number =>
    gen.InvocationSnapshot.encode(message).finish().length,
  journal: (message: gen.JournalSnapshot): number =>
    gen.JournalSnapshot.encode(message).finish().length,
  state: (message: gen.StateSnapshot): number => message.value.length,
} as const;
