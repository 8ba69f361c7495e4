/** What an attempt tells its partition, as commands; `at` is written when they are decided. */

import type { DeploymentPin, InvocationId, RetryPolicy } from '@engine/domain';
import type { AttemptOutput } from '@engine/attempt';
import type { Command, CommandEntry } from '@engine/state-machine';

export interface AttemptIdentity {
  readonly invocationId: InvocationId;
  readonly attempt: number;
}

type Output<Kind extends AttemptOutput['kind']> = Extract<AttemptOutput, { kind: Kind }>;

export function commandReceived(
  { invocationId, attempt }: AttemptIdentity,
  pin: DeploymentPin,
  received: { readonly entry: CommandEntry; readonly ackRequested: boolean },
): Command {
  const { entry, ackRequested } = received;
  return { kind: 'CommandReceived', at: 0, invocationId, attempt, pin, entry, ackRequested };
}

export function runCompletionProposed(
  { invocationId, attempt }: AttemptIdentity,
  pin: DeploymentPin,
  { completionId, result }: Output<'run-completion'>,
): Command {
  const kind = 'RunCompletionProposed';
  return { kind, at: 0, invocationId, attempt, pin, completionId, result };
}

export function attemptSuspended(
  { invocationId, attempt }: AttemptIdentity,
  { awaitingOn, knownEntries }: Output<'suspended'>,
): Command {
  return { kind: 'AttemptSuspended', at: 0, invocationId, attempt, awaitingOn, knownEntries };
}

export function attemptEnded({ invocationId, attempt }: AttemptIdentity): Command {
  return { kind: 'AttemptEnded', at: 0, invocationId, attempt };
}

/** `chance`: 0 ≤ chance < 1, spreads the retries of many. */
export function attemptFailed(
  { invocationId, attempt }: AttemptIdentity,
  { failure, behavior, retryDelayMs, reachedHandler }: Output<'failed'>,
  retry: { readonly policy: RetryPolicy; readonly chance: number },
): Command {
  return {
    kind: 'AttemptFailed',
    at: 0,
    invocationId,
    attempt,
    failure,
    behavior,
    retryDelayMs,
    reachedHandler,
    policy: retry.policy,
    chance: retry.chance,
  };
}
