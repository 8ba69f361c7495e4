/** Settings of a worker. Durations in ms, sizes in bytes; the composition root fills them from the configuration. */

import { DEFAULT_RETRY_POLICY, limits, type RetryPolicy } from '@engine/domain';

import type { InvokerOptions } from './invoker/attempt-room.js';
import { TIMERS_IN_MEMORY_MAX } from './partition/timers.js';

export interface WorkerOptions {
  readonly partitionCount: number;
  readonly invoker: InvokerOptions;
  readonly timersInMemoryMax: number;
  /** How long a stop waits for what is decided to become durable. */
  readonly flushMsMax: number;
}

export interface WorkerSettings {
  readonly partitionCount: number;
  readonly clusterName: string;
  readonly concurrentInvocationsMax?: number | undefined;
  readonly waitingAttemptsMax?: number | undefined;
  readonly messageSizeBytesMax?: number | undefined;
  /** 0 = handlers get no state ahead; default: as large as one message may be. */
  readonly eagerStateBytesMax?: number | undefined;
  readonly inactivityTimeoutMs?: number | undefined;
  readonly abortTimeoutMs?: number | undefined;
  readonly retryPolicy?: RetryPolicy | undefined;
  readonly timersInMemoryMax?: number | undefined;
  readonly flushMsMax?: number | undefined;
}

export const INACTIVITY_TIMEOUT_MS = 60_000;
export const ABORT_TIMEOUT_MS = 10 * 60_000;
export const FLUSH_MS_MAX = 10_000;
export const WAITING_ATTEMPTS_MAX = 65_536;

/** Fills what was left open with the defaults. */
export function workerOptions(settings: WorkerSettings): WorkerOptions {
  const messageSizeBytesMax = settings.messageSizeBytesMax ?? limits.MESSAGE_SIZE_BYTES_MAX;
  return {
    partitionCount: settings.partitionCount,
    invoker: {
      concurrentInvocationsMax:
        settings.concurrentInvocationsMax ?? limits.CONCURRENT_INVOCATIONS_MAX,
      waitingAttemptsMax: settings.waitingAttemptsMax ?? WAITING_ATTEMPTS_MAX,
      messageSizeBytesMax,
      eagerStateBytesMax: settings.eagerStateBytesMax ?? messageSizeBytesMax,
      clusterName: settings.clusterName,
      inactivityTimeoutMs: settings.inactivityTimeoutMs ?? INACTIVITY_TIMEOUT_MS,
      abortTimeoutMs: settings.abortTimeoutMs ?? ABORT_TIMEOUT_MS,
      retryPolicy: settings.retryPolicy ?? DEFAULT_RETRY_POLICY,
    },
    timersInMemoryMax: settings.timersInMemoryMax ?? TIMERS_IN_MEMORY_MAX,
    flushMsMax: settings.flushMsMax ?? FLUSH_MS_MAX,
  };
}
