/** The one place where what happens in a worker is counted and logged. */

import type { AttemptFailure, InvocationId, PartitionId } from '@engine/domain';
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
  invokerLogger.info({ invocation, attempt, code, docCode }, `attempt failed: ${message}`);
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
