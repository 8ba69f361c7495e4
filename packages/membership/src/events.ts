/** The one place where what happens to a node's membership is counted and logged. */

import type { ClusterNode, NodeId } from '@engine/domain';
import type { LeaseState } from '@engine/metadata';
import { counter } from '@engine/telemetry';

import { log } from './logger.js';

const leaseChanges = counter('engine_membership_lease_changes_total', {
  description: 'Changes of the own lease, by what it is now.',
  unit: '{change}',
});
const failedRenewals = counter('engine_membership_failed_renewals_total', {
  description: 'Renewals of the own lease that were not acknowledged.',
  unit: '{renewal}',
});
const pauses = counter('engine_membership_pauses_total', {
  description: 'Times that the process stood still for longer than a second.',
  unit: '{pause}',
});

export function registered({ id, incarnation, addresses, roles }: ClusterNode): void {
  log.info({ node: id, incarnation, roles, ...addresses }, 'registered as a node of the cluster');
}

export function leaseChanged(state: LeaseState): void {
  leaseChanges.add(1, { state });
  if (state === 'held') log.info('the lease of this node is held');
  else if (state === 'lapsed')
    log.warn('the lease of this node could not be renewed; work is held');
  else log.warn('the lease of this node is lost; everything that it was given counts no more');
}

export function renewalFailed(error: unknown): void {
  failedRenewals.add(1);
  log.debug({ err: error }, 'a renewal of the lease was not acknowledged');
}

export function pauseSeen(ms: number): void {
  pauses.add(1);
  log.warn({ ms: Math.round(ms) }, 'the process stood still');
}

export function documentUnreadable(name: string, error: unknown): void {
  log.error({ document: name, err: error }, 'a document cannot be read; what was known stays');
}

export function readFailed(error: unknown): void {
  log.debug({ err: error }, 'the documents of the cluster cannot be read now');
}

export function registrationDelayed(error: unknown): void {
  log.warn({ err: error }, 'the metadata store does not answer; registering again');
}

export function leaveBegun(node: NodeId): void {
  log.info({ node }, 'leaving: what this node leads is handed over');
}

export function leaveEnded(outcome: string): void {
  log.info({ outcome }, 'done with leaving');
}

export function goodbyeFailed(error: unknown): void {
  log.warn({ err: error }, 'no goodbye; others count this node dead when its lease is over');
}
