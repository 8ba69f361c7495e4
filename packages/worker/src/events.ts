/** The one place where what happens in a worker is counted and logged. */

import type {
  AttemptFailure,
  DeploymentId,
  InvocationId,
  LeadershipFault,
  PartitionId,
  PartitionPhase,
} from '@engine/domain';
import type { LogBreak, LogHealth, TakeOver } from '@engine/log';
import { counter } from '@engine/telemetry';

import { hostingLogger, invokerLogger, partitionLogger } from './logger.js';

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
const leaderships = counter('engine_worker_leaderships_total', {
  description: 'Times that a partition began to be led here.',
  unit: '{leadership}',
});
const stepDowns = counter('engine_worker_step_downs_total', {
  description: 'Times that a partition ceased to be led here while the process ran on.',
  unit: '{leadership}',
});
const hostingFailures = counter('engine_worker_hosting_failures_total', {
  description:
    'Failures of logs and stores of partitions that are hosted here, each followed by another try.',
  unit: '{failure}',
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

/** Steps on the way, many at each start of a node. */
const QUIET_PHASES: ReadonlySet<PartitionPhase> = new Set([
  'idle',
  'follower',
  'candidate',
  'announcing',
  'rebuilding',
]);

export function onPhase(
  partition: PartitionId,
  phase: PartitionPhase,
  { epoch, logEpoch }: { readonly epoch: bigint; readonly logEpoch: bigint },
): void {
  if (phase === 'leader') leaderships.add(1);
  if (phase === 'stepping-down') stepDowns.add(1);
  const level = QUIET_PHASES.has(phase) ? 'debug' : 'info';
  hostingLogger[level]({ partition, phase, epoch, logEpoch }, `partition is ${phase}`);
}

export function onLeadershipAlarm(
  partition: PartitionId,
  fault: LeadershipFault | 'no-acknowledgement',
): void {
  hostingLogger.error({ partition, fault }, 'partition cannot be led here; somebody should look');
}

export function onOpenFailed(partition: PartitionId, how: string, error: unknown): void {
  hostingFailures.add(1, { of: how });
  hostingLogger.warn(
    { partition, how, err: error },
    'log or store of a partition cannot be opened',
  );
}

export function onReadFailed(partition: PartitionId, error: unknown): void {
  hostingFailures.add(1, { of: 'read' });
  hostingLogger.warn({ partition, err: error }, 'the log of a partition cannot be read');
}

export function onLogBroken(partition: PartitionId, found: LogBreak): void {
  hostingLogger.warn({ partition, ...found }, `the log does not continue the store: ${found.kind}`);
}

/** Somebody else, the clock or a break of the log was in the way. */
export function onTakeOverRefused(
  partition: PartitionId,
  epoch: bigint,
  { kind, ...found }: Exclude<TakeOver, { kind: 'leading' }>,
): void {
  hostingLogger.info({ partition, epoch, found }, `the announcement was not taken: ${kind}`);
}

export function onDeposed(partition: PartitionId): void {
  hostingLogger.info({ partition }, 'another leader wrote to the log');
}

export function onTakeOverFailed(partition: PartitionId, error: unknown): void {
  hostingFailures.add(1, { of: 'take-over' });
  hostingLogger.warn({ partition, err: error }, 'the take-over of a partition failed');
}

export function onStoreFailed(partition: PartitionId, error: unknown): void {
  hostingFailures.add(1, { of: 'store' });
  hostingLogger.error({ partition, err: error }, 'a partition starts again from its store');
}

export function onLogHealth(partition: PartitionId, health: LogHealth): void {
  if (health.kind === 'ok') hostingLogger.info({ partition }, 'the log takes records again');
  else hostingLogger.error({ partition, ...health }, `the log takes no records: ${health.kind}`);
}
