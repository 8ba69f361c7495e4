/** A handler in answers (interface §2.3). Members with the value `undefined` are left out of the JSON. */

import type {
  Deployment,
  HandlerOptions,
  HandlerSchema,
  HandlerType,
  PartialRetryPolicy,
  ServiceSchema,
} from '@engine/domain';
import type { Dialect } from '../dialect.js';
import { durationText, inputText, outputText } from './texts.js';

type Wording = Dialect['wording'];

export const HANDLER_TYPES: Readonly<Record<HandlerType, string>> = {
  exclusive: 'Exclusive',
  shared: 'Shared',
  workflow: 'Workflow',
};
export const ON_MAX_ATTEMPTS = { pause: 'Pause', kill: 'Kill' } as const;

/** Where a handler stands. */
export interface HandlerPlace {
  readonly deployment: Deployment;
  readonly service: ServiceSchema;
}

export function handlerView(
  handler: HandlerSchema,
  place: HandlerPlace,
  wording: Wording,
): Record<string, unknown> {
  const { options } = handler;
  const duration = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : durationText(ms, wording);
  return {
    name: handler.name,
    ty: handler.type === undefined ? undefined : HANDLER_TYPES[handler.type],
    input_description: inputText(handler.input, wording),
    output_description: outputText(handler.output, wording),
    public: !(handler.ingressPrivate ?? place.service.ingressPrivate),
    documentation: handler.documentation,
    metadata: ifAny(handler.metadata),
    idempotency_retention: duration(options.idempotencyRetentionMs),
    journal_retention: duration(options.journalRetentionMs),
    inactivity_timeout: duration(options.inactivityTimeoutMs),
    abort_timeout: duration(options.abortTimeoutMs),
    enable_lazy_state: options.enableLazyState,
    input_json_schema: handler.input?.jsonSchema,
    output_json_schema: handler.output?.jsonSchema,
    retry_policy: retryView(options.retryPolicy, wording),
    info: ifAny(timeoutInfo(options, place.deployment)),
  };
}

/** RT0021: a timeout that is set has no effect in request-response mode. */
export function timeoutInfo(options: HandlerOptions, deployment: Deployment): SchemaInfo[] {
  const isIgnored =
    options.inactivityTimeoutMs !== undefined && deployment.protocolMode === 'request-response';
  return isIgnored
    ? [{ code: 'RT0021', message: 'inactivity_timeout has no effect in request-response mode' }]
    : [];
}

export interface SchemaInfo {
  readonly code: string;
  readonly message: string;
}

/** The value, or undefined when it has no members. */
export function ifAny<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function retryView(
  policy: PartialRetryPolicy | undefined,
  wording: Wording,
): Record<string, unknown> {
  const duration = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : durationText(ms, wording);
  return {
    initial_interval: duration(policy?.initialIntervalMs),
    exponentiation_factor: policy?.exponentiationFactor,
    max_attempts: policy?.maxAttempts ?? null,
    max_interval: duration(policy?.maxIntervalMs),
    on_max_attempts:
      policy?.onMaxAttempts === undefined ? undefined : ON_MAX_ATTEMPTS[policy.onMaxAttempts],
  };
}
