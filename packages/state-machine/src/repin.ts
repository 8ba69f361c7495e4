/** Moves an invocation to another deployment, as far as its journal can be replayed there (SPEC ATM-4). */

import type { Invocation, OperationOutcome } from '@engine/domain';

import type { ResolvedDeployment } from './command.js';

export type Repinned =
  | { readonly kind: 'row'; readonly row: Invocation }
  | { readonly kind: 'refused'; readonly outcome: OperationOutcome };

/** The protocol version stays: the journal is written in it. What has stored nothing is free to choose and has none to change. */
export function repin(row: Invocation, deployment: ResolvedDeployment): Repinned {
  if (deployment.kind === 'keep') return { kind: 'row', row };
  if (row.pin === undefined) {
    return deployment.isExplicit ? refused('deployment-not-changeable') : { kind: 'row', row };
  }
  if (deployment.kind === 'unknown') return refused('deployment-not-found');
  const { protocolVersion } = row.pin;
  const { deploymentId, minProtocolVersion, maxProtocolVersion } = deployment;
  const isSpoken = minProtocolVersion <= protocolVersion && protocolVersion <= maxProtocolVersion;
  if (!isSpoken) return refused('deployment-incompatible');
  return { kind: 'row', row: { ...row, pin: { deploymentId, protocolVersion } } };
}

function refused(outcome: OperationOutcome): Repinned {
  return { kind: 'refused', outcome };
}
