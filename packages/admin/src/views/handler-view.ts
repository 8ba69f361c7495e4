/** A handler in answers (interface §2.3). Members with the value `undefined` are left out of the JSON. */

import {
  capRetention,
  type Deployment,
  type HandlerSchema,
  type HandlerType,
  type PartialRetryPolicy,
  type Retention,
  type ServiceSchema,
} from '@engine/domain';
import { optionsInfo } from './schema-info.js';
import { durationText, inputText, outputText, type ViewOptions } from './texts.js';

type DurationText = (ms: number | undefined) => string | undefined;

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

/** Of the settings only what the handler itself asks for, as far as the server grants it. */
export function handlerView(
  handler: HandlerSchema,
  place: HandlerPlace,
  view: ViewOptions,
): Record<string, unknown> {
  const { options } = handler;
  const { wording } = view;
  const duration: DurationText = (ms) => (ms === undefined ? undefined : durationText(ms, wording));
  const retention = (name: Retention): string | undefined => {
    const asked = options[name];
    return asked === undefined ? undefined : duration(capRetention(asked, name, view.defaults));
  };
  return {
    name: handler.name,
    ty: handler.type === undefined ? undefined : HANDLER_TYPES[handler.type],
    input_description: inputText(handler.input, wording),
    output_description: outputText(handler.output, wording),
    public: !(handler.ingressPrivate ?? place.service.ingressPrivate),
    documentation: handler.documentation,
    metadata: ifAny(handler.metadata),
    idempotency_retention: retention('idempotencyRetentionMs'),
    journal_retention: retention('journalRetentionMs'),
    inactivity_timeout: duration(options.inactivityTimeoutMs),
    abort_timeout: duration(options.abortTimeoutMs),
    enable_lazy_state: options.enableLazyState,
    input_json_schema: handler.input?.jsonSchema,
    output_json_schema: handler.output?.jsonSchema,
    retry_policy: retryView(options.retryPolicy, duration),
    info: ifAny(optionsInfo(options, place.deployment, view)),
  };
}

/** The value, or undefined when it has no members. */
export function ifAny<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function retryView(
  policy: PartialRetryPolicy | undefined,
  duration: DurationText,
): Record<string, unknown> {
  return {
    initial_interval: duration(policy?.initialIntervalMs),
    exponentiation_factor: policy?.exponentiationFactor,
    max_attempts: policy?.maxAttempts ?? null,
    max_interval: duration(policy?.maxIntervalMs),
    on_max_attempts:
      policy?.onMaxAttempts === undefined ? undefined : ON_MAX_ATTEMPTS[policy.onMaxAttempts],
  };
}
