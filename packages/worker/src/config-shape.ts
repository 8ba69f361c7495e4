/** Settings of a worker. Durations in ms, sizes in bytes; the composition root fills them from the configuration. */

import { DEFAULT_RETRY_POLICY, limits, type RetryPolicy } from '@engine/domain';

import type { InvokerOptions } from './invoker/attempt-room.js';
import { TIMERS_IN_MEMORY_MAX } from './partition/timers.js';

export interface WorkerOptions {
  readonly partitionCount: number;
  readonly invoker: InvokerOptions;
  readonly timersInMemoryMax: number;
  /** Payloads that attempts hold in memory, in all. */
  readonly payloadMemoryBytesMax: number;
  /** How long a stop waits for what is decided to become durable. */
  readonly flushMsMax: number;
}

export interface WorkerSettings {
  readonly partitionCount: number;
  readonly clusterName: string;
  readonly concurrentInvocationsMax?: number | undefined;
  readonly waitingAttemptsMax?: number | undefined;
  readonly messageSizeBytesMax?: number | undefined;
  /** 0 = handlers get no state ahead; at most, and by default, as large as one message may be. */
  readonly eagerStateBytesMax?: number | undefined;
  /** Payloads that all attempts together hold in memory. */
  readonly payloadMemoryBytesMax?: number | undefined;
  /** Journal and state that one attempt is given; default: all the memory for payloads. */
  readonly perInvocationBytesMax?: number | undefined;
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
  const payloadMemoryBytesMax = settings.payloadMemoryBytesMax ?? limits.PAYLOAD_MEMORY_BYTES_MAX;
  const messageSizeBytesMax = settings.messageSizeBytesMax ?? limits.MESSAGE_SIZE_BYTES_MAX;
  return {
    partitionCount: settings.partitionCount,
    payloadMemoryBytesMax,
    invoker: {
      concurrentInvocationsMax:
        settings.concurrentInvocationsMax ?? limits.CONCURRENT_INVOCATIONS_MAX,
      waitingAttemptsMax: settings.waitingAttemptsMax ?? WAITING_ATTEMPTS_MAX,
      messageSizeBytesMax,
      perInvocationBytesMax: settings.perInvocationBytesMax ?? payloadMemoryBytesMax,
      eagerStateBytesMax: Math.min(
        settings.eagerStateBytesMax ?? messageSizeBytesMax,
        messageSizeBytesMax,
      ),
      clusterName: settings.clusterName,
      inactivityTimeoutMs: settings.inactivityTimeoutMs ?? INACTIVITY_TIMEOUT_MS,
      abortTimeoutMs: settings.abortTimeoutMs ?? ABORT_TIMEOUT_MS,
      retryPolicy: settings.retryPolicy ?? DEFAULT_RETRY_POLICY,
    },
    timersInMemoryMax: settings.timersInMemoryMax ?? TIMERS_IN_MEMORY_MAX,
    flushMsMax: settings.flushMsMax ?? FLUSH_MS_MAX,
  };
}
