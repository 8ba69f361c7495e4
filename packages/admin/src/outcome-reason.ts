/** What the outcome of an operation tells people: what stands in the way, and what to do. */

import type { InvocationId, OperationOutcome } from '@engine/domain';
import { assertNever } from '@engine/stdx';
import type { OperationKind } from './invocation-operations.js';

/** Outcomes that callers take for a success. */
export type Success = Extract<OperationOutcome, 'done' | 'appended' | 'unchanged'>;

export type Refusal = Exclude<OperationOutcome, Success>;

export function isSuccess(outcome: OperationOutcome): outcome is Success {
  return outcome === 'done' || outcome === 'appended' || outcome === 'unchanged';
}

export function refusalReason(kind: OperationKind, refusal: Refusal, id: InvocationId): string {
  const invocation = `invocation '${id}'`;
  switch (refusal) {
    case 'not-found':
      return `unknown ${invocation}: it never was, or it is purged or past its retention`;
    case 'already-completed':
      return `${invocation} is already completed, so it is too late to ${kind} it; restart-as-new runs it once more`;
    case 'not-completed':
      return `${invocation} is not completed yet; wait for its end, or cancel or kill it first`;
    case 'not-started':
      return `${invocation} is scheduled or waits for its turn, so it is too early to ${kind} it; it can be cancelled or killed`;
    case 'not-running':
      return `${invocation} does not run, so there is nothing to pause: it waits for its start or is at its end`;
    case 'still-running':
      return `${invocation} is not completed yet; only what is completed can be restarted as new`;
    case 'journal-missing':
      return `the journal of ${invocation} is purged or past its retention, and its input with it; send the request again`;
    case 'workflow-unsupported':
      return `${invocation} is the run of a workflow, of which there is one for each key; purge it and start the workflow again`;
    case 'journal-position-invalid':
      return (
        `'from' is no place to restart ${invocation} from: it is behind the last entry of the journal, ` +
        'or a step up to it never completed; choose a smaller one'
      );
    case 'deployment-not-found':
      return `there is no such deployment, or none serves ${invocation}; GET /deployments lists those there are`;
    case 'deployment-not-changeable':
      return (
        `${invocation} cannot be moved to another deployment now, because it is running or never reached one; ` +
        'pause it first, or resume it with deployment=keep'
      );
    case 'deployment-incompatible':
      return `the deployment does not support the service protocol version with which ${invocation} began; choose another one`;
    case 'limit-reached':
      return kind === 'restart-as-new'
        ? `the queue of the object of ${invocation} is full, or 'from' takes over more of its journal than a restart may; ` +
            'try again later, or with a smaller one'
        : `a queue or the journal of ${invocation} is full; try again later`;
    default:
      return assertNever(refusal);
  }
}
