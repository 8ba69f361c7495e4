/** What the outcome of an operation on an invocation means over HTTP. */

import type { InvocationId, OperationOutcome } from '@engine/domain';
import type { OperationKind } from '../invocation-operations.js';
import { isSuccess, refusalReason, type Refusal, type Success } from '../outcome-reason.js';
import { HttpProblem, RETRY_AFTER } from './problem.js';

const REFUSED: Readonly<Record<Refusal, number>> = {
  'not-found': 404,
  'already-completed': 409,
  'not-completed': 409,
  'not-started': 425,
  'not-running': 409,
  'still-running': 409,
  'journal-missing': 410,
  'workflow-unsupported': 422,
  'journal-position-invalid': 400,
  'deployment-not-found': 400,
  'deployment-not-changeable': 409,
  'deployment-incompatible': 400,
  'limit-reached': 429,
};

/** 202 when the effect shows later: the handler has to see a cancellation, an attempt has to be stopped. */
export function successStatus(kind: OperationKind, success: Success): 200 | 202 {
  if (kind === 'cancel') return success === 'appended' ? 202 : 200;
  if (kind === 'pause') return success === 'unchanged' ? 200 : 202;
  return 200;
}

/** Throws an HttpProblem for whatever is no success. */
export function requireSuccess(
  kind: OperationKind,
  outcome: OperationOutcome,
  id: InvocationId,
): Success {
  if (isSuccess(outcome)) return outcome;
  const headers = outcome === 'limit-reached' ? RETRY_AFTER : {};
  throw new HttpProblem(refusedStatus(kind, outcome), refusalReason(kind, outcome, id), headers);
}

/** What waits for its start can be neither resumed nor restarted yet, but pausing it is just as wrong later. */
function refusedStatus(kind: OperationKind, refusal: Refusal): number {
  return kind === 'pause' && refusal === 'not-started' ? 409 : REFUSED[refusal];
}
