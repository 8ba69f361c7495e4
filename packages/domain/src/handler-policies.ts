/** Which timeouts, retentions and retries a handler has: its own word, else its service's, else the server's; then the caps. */

import * as limits from './limits.js';
import { capAttempts, type RetryPolicy } from './retry-policy.js';
import type { HandlerDefaults, HandlerOptions, PartialRetryPolicy } from './schema.js';

/** Every setting of a handler, in force. Times are whole ms from 0 to `limits.DURATION_MS_MAX`. */
export interface HandlerPolicies {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
  readonly idempotencyRetentionMs: number;
  readonly workflowCompletionRetentionMs: number;
  readonly journalRetentionMs: number;
  readonly enableLazyState: boolean;
  readonly retryPolicy: RetryPolicy;
}

/** The retentions that a server may bound. */
export type Retention =
  'journalRetentionMs' | 'idempotencyRetentionMs' | 'workflowCompletionRetentionMs';

/** Resolves each setting, and each field of the retry policy, on its own. */
export function resolvePolicies(
  own: HandlerOptions,
  inherited: HandlerOptions,
  defaults: HandlerDefaults,
): HandlerPolicies {
  const timeout = (name: 'inactivityTimeoutMs' | 'abortTimeoutMs'): number =>
    wholeMs(own[name] ?? inherited[name] ?? defaults[name]);
  const retention = (name: Retention): number =>
    wholeMs(capRetention(own[name] ?? inherited[name] ?? defaults[name], name, defaults));
  const policy = resolveRetryPolicy(own.retryPolicy, inherited.retryPolicy, defaults.retryPolicy);
  return {
    inactivityTimeoutMs: timeout('inactivityTimeoutMs'),
    abortTimeoutMs: timeout('abortTimeoutMs'),
    idempotencyRetentionMs: retention('idempotencyRetentionMs'),
    workflowCompletionRetentionMs: retention('workflowCompletionRetentionMs'),
    journalRetentionMs: retention('journalRetentionMs'),
    enableLazyState: own.enableLazyState ?? inherited.enableLazyState ?? false,
    retryPolicy: capAttempts(policy, defaults.caps?.retryAttempts),
  };
}

/** What is granted of a retention that somebody asks for, in ms: at most the server's maximum (RT0022). */
export function capRetention(askedMs: number, name: Retention, { caps }: HandlerDefaults): number {
  return Math.min(askedMs, caps?.[name] ?? askedMs);
}

/** Clocks and stored times have whole ms. Rounded up, for 0 has a meaning of its own. */
function wholeMs(ms: number): number {
  return Math.ceil(Math.min(ms, limits.DURATION_MS_MAX));
}

function resolveRetryPolicy(
  own: PartialRetryPolicy | undefined,
  inherited: PartialRetryPolicy | undefined,
  defaults: RetryPolicy,
): RetryPolicy {
  return {
    initialIntervalMs:
      own?.initialIntervalMs ?? inherited?.initialIntervalMs ?? defaults.initialIntervalMs,
    exponentiationFactor:
      own?.exponentiationFactor ?? inherited?.exponentiationFactor ?? defaults.exponentiationFactor,
    maxIntervalMs: own?.maxIntervalMs ?? inherited?.maxIntervalMs ?? defaults.maxIntervalMs,
    maxAttempts: own?.maxAttempts ?? inherited?.maxAttempts ?? defaults.maxAttempts,
    onMaxAttempts: own?.onMaxAttempts ?? inherited?.onMaxAttempts ?? defaults.onMaxAttempts,
  };
}
