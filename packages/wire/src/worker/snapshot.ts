/** Invocations as introspection sees them. */

import type { DeploymentId, InvocationId } from '@engine/domain';

import { required } from '../codec.js';
import type * as gen from '../gen/engine/worker/v1/worker.js';
import type { InvocationSnapshot, LiveAttempt } from '../services/invocation-scan.js';
import { invocationFromWire, invocationToWire } from '../store/invocation.js';
import { failureFromWire, failureToWire } from '../store/result.js';

export function snapshotToWire(snapshot: InvocationSnapshot): gen.InvocationSnapshot {
  return {
    id: snapshot.id,
    invocation: invocationToWire(snapshot.invocation),
    live: snapshot.live,
    failure: snapshot.failure === undefined ? undefined : failureToWire(snapshot.failure),
  };
}

export function snapshotFromWire(message: gen.InvocationSnapshot): InvocationSnapshot {
  return {
    id: message.id as InvocationId,
    invocation: invocationFromWire(required(message.invocation, 'invocation')),
    live: message.live === undefined ? undefined : liveFromWire(message.live),
    failure: message.failure === undefined ? undefined : failureFromWire(message.failure),
  };
}

function liveFromWire(message: gen.LiveAttempt): LiveAttempt {
  return {
    isInFlight: message.isInFlight,
    retryCount: message.retryCount,
    lastStartAt: message.lastStartAt,
    nextRetryAt: message.nextRetryAt,
    deploymentId: message.deploymentId as DeploymentId | undefined,
    server: message.server,
  };
}
