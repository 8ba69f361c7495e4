/** A service in answers (interface §2.2), with every setting that applies to it. */

import {
  capRetention,
  type Deployment,
  type HandlerDefaults,
  type Retention,
  type ServiceSchema,
  type ServiceType,
} from '@engine/domain';
import { handlerView, ifAny, ON_MAX_ATTEMPTS } from './handler-view.js';
import { serviceInfo } from './schema-info.js';
import { durationText, type ViewOptions } from './texts.js';

export const SERVICE_TYPES: Readonly<Record<ServiceType, string>> = {
  service: 'Service',
  'virtual-object': 'VirtualObject',
  workflow: 'Workflow',
};

/** `service` as `deployment` serves it. */
export function serviceView(
  service: ServiceSchema,
  deployment: Deployment,
  view: ViewOptions,
): Record<string, unknown> {
  const { options } = service;
  const { defaults, wording } = view;
  const duration = (ms: number): string => durationText(ms, wording);
  return {
    name: service.name,
    ty: SERVICE_TYPES[service.type],
    handlers: service.handlers.map((handler) =>
      handlerView(handler, { service, deployment }, view),
    ),
    documentation: service.documentation,
    metadata: ifAny(service.metadata),
    deployment_id: deployment.id,
    revision: service.revision,
    public: !service.ingressPrivate,
    idempotency_retention: duration(retention(service, 'idempotencyRetentionMs', defaults)),
    workflow_completion_retention:
      service.type === 'workflow' ? duration(workflowRetention(service, defaults)) : undefined,
    journal_retention: journalRetention(service, defaults, duration),
    inactivity_timeout: duration(inactivityTimeout(service, deployment, defaults)),
    abort_timeout: duration(options.abortTimeoutMs ?? defaults.abortTimeoutMs),
    enable_lazy_state: options.enableLazyState ?? false,
    retry_policy: retryView(service, defaults, duration),
    info: ifAny(serviceInfo(service, deployment, view)),
  };
}

/** What the service gets: what it asks for, else the default, up to the server's maximum. */
function retention(service: ServiceSchema, name: Retention, defaults: HandlerDefaults): number {
  return capRetention(service.options[name] ?? defaults[name], name, defaults);
}

/** What the run handler says wins. */
function workflowRetention(service: ServiceSchema, defaults: HandlerDefaults): number {
  const name = 'workflowCompletionRetentionMs';
  const run = service.handlers.find((handler) => handler.type === 'workflow')?.options[name];
  return run === undefined ? retention(service, name, defaults) : capRetention(run, name, defaults);
}

/** Left out when nobody set it and the server keeps no journals. */
function journalRetention(
  service: ServiceSchema,
  defaults: HandlerDefaults,
  duration: (ms: number) => string,
): string | undefined {
  const isSet = service.options.journalRetentionMs !== undefined;
  if (!isSet && defaults.journalRetentionMs === 0) return undefined;
  return duration(retention(service, 'journalRetentionMs', defaults));
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
