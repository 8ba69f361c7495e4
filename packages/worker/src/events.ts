/** The one place where what happens in a worker is counted and logged. */

import type { AttemptFailure, DeploymentId, InvocationId, PartitionId } from '@engine/domain';
import { counter } from '@engine/telemetry';

import { invokerLogger, partitionLogger } from './logger.js';

const attemptsStarted = counter('engine_worker_attempts_total', {
  description: 'Attempts that got a slot.',
  unit: '{attempt}',
});
const attemptFailures = counter('engine_worker_attempt_failures_total', {
  description: 'Attempts that failed, by documented code.',
  unit: '{attempt}',
});
const silentAttempts = counter('engine_worker_silent_attempts_total', {
  description:
    'Attempts whose handler neither suspended nor spoke when its inactivity timeout was over.',
  unit: '{attempt}',
});
const requestsRefused = counter('engine_worker_refused_requests_total', {
  description: 'Requests refused because a partition was overloaded or stopping.',
  unit: '{request}',
});

export function onAttemptStarted(): void {
  attemptsStarted.add(1);
}

export function onAttemptFailed(
  invocation: InvocationId,
  attempt: number,
  failure: AttemptFailure,
): void {
  const { code, docCode, message } = failure;
  attemptFailures.add(1, { code: docCode ?? 'none' });
  const head = docCode === undefined ? '' : `[${docCode}] `;
  invokerLogger.info({ invocation, attempt, code, docCode }, `${head}attempt failed: ${message}`);
}

export interface SilentAttempt {
  readonly invocation: InvocationId;
  readonly attempt: number;
  readonly deployment: DeploymentId | undefined;
  /** In words. */
  readonly awaitingOn: string;
  /** Ms since the epoch. */
  readonly awaitingSince: number | undefined;
}

/** `isLogged` false: only counted. */
export function onAttemptSilent(attempt: SilentAttempt, isLogged: boolean): void {
  silentAttempts.add(1);
  if (!isLogged) return;
  const since =
    attempt.awaitingSince === undefined
      ? ''
      : ` since ${new Date(attempt.awaitingSince).toISOString()}`;
  invokerLogger.warn(
    { ...attempt },
    `attempt does not suspend: it waits for ${attempt.awaitingOn}${since}`,
  );
}

export function onRequestRefused(): void {
  requestsRefused.add(1);
}

export function onPartitionStarted(partition: PartitionId, startedMs: number): void {
  partitionLogger.debug({ partition, startedMs }, 'partition leads');
}

export function onPartitionFailed(partition: PartitionId, error: unknown): void {
  partitionLogger.fatal({ partition, err: error }, 'partition cannot go on');
}
