/** A service in answers (interface §2.2), with every setting that applies to it. */

import type { Deployment, HandlerDefaults, ServiceSchema, ServiceType } from '@engine/domain';
import type { Dialect } from '../dialect.js';
import { handlerView, ifAny, ON_MAX_ATTEMPTS, timeoutInfo } from './handler-view.js';
import { durationText } from './texts.js';

export const SERVICE_TYPES: Readonly<Record<ServiceType, string>> = {
  service: 'Service',
  'virtual-object': 'VirtualObject',
  workflow: 'Workflow',
};

export interface ViewOptions {
  readonly defaults: HandlerDefaults;
  readonly wording: Dialect['wording'];
}

/** `service` as `deployment` serves it. */
export function serviceView(
  service: ServiceSchema,
  deployment: Deployment,
  { defaults, wording }: ViewOptions,
): Record<string, unknown> {
  const { options } = service;
  const duration = (ms: number): string => durationText(ms, wording);
  return {
    name: service.name,
    ty: SERVICE_TYPES[service.type],
    handlers: service.handlers.map((handler) =>
      handlerView(handler, { service, deployment }, wording),
    ),
    documentation: service.documentation,
    metadata: ifAny(service.metadata),
    deployment_id: deployment.id,
    revision: service.revision,
    public: !service.ingressPrivate,
    idempotency_retention: duration(
      options.idempotencyRetentionMs ?? defaults.idempotencyRetentionMs,
    ),
    workflow_completion_retention:
      service.type === 'workflow' ? duration(workflowRetention(service, defaults)) : undefined,
    journal_retention: journalRetention(service, defaults, duration),
    inactivity_timeout: duration(inactivityTimeout(service, deployment, defaults)),
    abort_timeout: duration(options.abortTimeoutMs ?? defaults.abortTimeoutMs),
    enable_lazy_state: options.enableLazyState ?? false,
    retry_policy: retryView(service, defaults, duration),
    info: ifAny(serviceInfo(service, deployment)),
  };
}

/** What the run handler says wins. */
function workflowRetention(service: ServiceSchema, defaults: HandlerDefaults): number {
  const run = service.handlers.find((handler) => handler.type === 'workflow');
  return (
    run?.options.workflowCompletionRetentionMs ??
    service.options.workflowCompletionRetentionMs ??
    defaults.workflowCompletionRetentionMs
  );
}

/** Left out when nobody set it and the server keeps no journals. */
function journalRetention(
  service: ServiceSchema,
  defaults: HandlerDefaults,
  duration: (ms: number) => string,
): string | undefined {
  const own = service.options.journalRetentionMs;
  if (own !== undefined) return duration(own);
  return defaults.journalRetentionMs === 0 ? undefined : duration(defaults.journalRetentionMs);
}

function inactivityTimeout(
  service: ServiceSchema,
  deployment: Deployment,
  defaults: HandlerDefaults,
): number {
  if (deployment.protocolMode === 'request-response') return 0;
  return service.options.inactivityTimeoutMs ?? defaults.inactivityTimeoutMs;
}

function retryView(
  service: ServiceSchema,
  defaults: HandlerDefaults,
  duration: (ms: number) => string,
): Record<string, unknown> {
  const own = service.options.retryPolicy;
  const { retryPolicy } = defaults;
  return {
    initial_interval: duration(own?.initialIntervalMs ?? retryPolicy.initialIntervalMs),
    exponentiation_factor: own?.exponentiationFactor ?? retryPolicy.exponentiationFactor,
    max_attempts: own?.maxAttempts ?? retryPolicy.maxAttempts ?? null,
    max_interval: duration(own?.maxIntervalMs ?? retryPolicy.maxIntervalMs),
    on_max_attempts: ON_MAX_ATTEMPTS[own?.onMaxAttempts ?? retryPolicy.onMaxAttempts],
  };
}

/** Notes on the service and, once each, on its handlers. */
function serviceInfo(service: ServiceSchema, deployment: Deployment): object[] {
  const own = timeoutInfo(service.options, deployment);
  if (own.length > 0) return own;
  return service.handlers.flatMap(({ options }) => timeoutInfo(options, deployment)).slice(0, 1);
}
