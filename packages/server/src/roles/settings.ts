/** From the configuration of the server to the settings of each role. */

import type { AdminConfig } from '@engine/admin';
import { capAttempts, type HandlerDefaults, type RetryPolicy } from '@engine/domain';
import { DEFAULT_INGRESS_CONFIG, type IngressConfig } from '@engine/ingress';
import type { WorkerSettings } from '@engine/worker';

import { listenAddressOf, type ServerConfig } from '../config/config.js';

/** Every address of the machine, IPv6 and IPv4. */
export const ANY_ADDRESS = '::';

export function ingressConfig(config: ServerConfig): IngressConfig {
  const { host, port } = listenAddressOf(config, 'ingress');
  const { requestSizeLimit, concurrentApiRequestsLimit } = config.ingress;
  return {
    ...DEFAULT_INGRESS_CONFIG,
    bindIp: host ?? ANY_ADDRESS,
    bindPort: port,
    requestBytesMax: requestSizeLimit,
    concurrentRequestsMax:
      concurrentApiRequestsLimit ?? DEFAULT_INGRESS_CONFIG.concurrentRequestsMax,
  };
}

/** `ingressPort`: the port that the ingress really has; undefined where it runs elsewhere. */
export function adminConfig(config: ServerConfig, ingressPort: number | undefined): AdminConfig {
  const { host, port } = listenAddressOf(config, 'admin');
  return {
    bindIp: host ?? ANY_ADDRESS,
    bindPort: port,
    ingressEndpoint: ingressEndpoint(config, ingressPort),
    clusterName: config.clusterName,
    concurrentRequestsMax: config.admin.concurrentApiRequestsLimit,
    deploymentRoutingHeaders: config.admin.deploymentRoutingHeaders,
    features: { vqueues: false, protocol_v7: true },
    handlerDefaults: handlerDefaults(config),
  };
}

function ingressEndpoint(config: ServerConfig, port: number | undefined): string {
  const { advertisedAddress } = config.ingress;
  if (advertisedAddress !== undefined) return `${advertisedAddress.replace(/\/$/, '')}/`;
  const host = config.advertisedHost ?? '127.0.0.1';
  return `http://${host}:${String(port ?? listenAddressOf(config, 'ingress').port)}/`;
}

export function handlerDefaults(config: ServerConfig): HandlerDefaults {
  return {
    inactivityTimeoutMs: config.worker.invoker.inactivityTimeout,
    abortTimeoutMs: config.worker.invoker.abortTimeout,
    journalRetentionMs: config.defaultJournalRetention,
    idempotencyRetentionMs: config.defaultIdempotencyRetention,
    workflowCompletionRetentionMs: config.defaultWorkflowCompletionRetention,
    retryPolicy: retryPolicy(config),
    caps: {
      journalRetentionMs: config.maxJournalRetention,
      idempotencyRetentionMs: config.maxIdempotencyRetention,
      workflowCompletionRetentionMs: config.maxWorkflowCompletionRetention,
      retryAttempts: config.maxRetryPolicyMaxAttempts,
    },
  };
}

export function workerSettings(config: ServerConfig, partitionCount: number): WorkerSettings {
  const { invoker } = config.worker;
  return {
    partitionCount,
    clusterName: config.clusterName,
    concurrentInvocationsMax: invoker.concurrentInvocationsLimit,
    messageSizeBytesMax: invoker.messageSizeLimit,
    payloadMemoryBytesMax: invoker.memoryLimit,
    perInvocationBytesMax: invoker.perInvocationMemoryLimit,
    eagerStateBytesMax: invoker.eagerStateSizeLimit,
    inactivityTimeoutMs: invoker.inactivityTimeout,
    abortTimeoutMs: invoker.abortTimeout,
    retryPolicy: capAttempts(retryPolicy(config), config.maxRetryPolicyMaxAttempts),
  };
}

function retryPolicy(config: ServerConfig): RetryPolicy {
  const policy = config.defaultRetryPolicy;
  return {
    initialIntervalMs: policy.initialInterval,
    exponentiationFactor: policy.exponentiationFactor,
    maxIntervalMs: policy.maxInterval,
    maxAttempts: policy.maxAttempts,
    onMaxAttempts: policy.onMaxAttempts,
  };
}
