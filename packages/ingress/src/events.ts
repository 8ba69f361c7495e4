/** The one place where what the ingress does is counted. Labels: service names and a few words, never a key or an id. */

import { counter, histogram } from '@engine/telemetry';

export type InvokeVerb = 'call' | 'send';

/** How a call or send ended: `request-error` and `ingress-error` were made by the ingress (4xx, 5xx). */
export type InvokeOutcome = 'completed' | 'request_error' | 'ingress_error' | 'invocation_error';

const requests = counter('engine_ingress_requests_total', {
  description: 'HTTP requests by status; calls and sends also by service.',
  unit: '{request}',
});
const duration = histogram('engine_ingress_request_duration_seconds', {
  description: 'Time from the arrival of a call or send to its answer.',
  unit: 's',
});
const connections = counter('engine_ingress_http_connection_created_total', {
  description: 'Connections accepted.',
  unit: '{connection}',
});

const ADMITTED = { status: 'admitted' };
const RATE_LIMITED = { status: 'rate-limited' };

interface Labels {
  readonly duration: { readonly rpc_service: string; readonly rpc_type: InvokeVerb };
  readonly outcomes: Readonly<Record<InvokeOutcome, Record<string, string>>>;
}

// Label sets are made once per service, not per request. Services are few and come from the schema.
const labels = { call: new Map<string, Labels>(), send: new Map<string, Labels>() };

export function requestAdmitted(): void {
  requests.add(1, ADMITTED);
}

export function requestRateLimited(): void {
  requests.add(1, RATE_LIMITED);
}

export function connectionCreated(): void {
  connections.add(1);
}

export function invokeEnded(
  invoke: { readonly service: string; readonly verb: InvokeVerb; readonly durationMs: number },
  outcome: InvokeOutcome,
): void {
  const known = labels[invoke.verb].get(invoke.service) ?? addLabels(invoke.service, invoke.verb);
  requests.add(1, known.outcomes[outcome]);
  duration.record(invoke.durationMs / 1000, known.duration);
}

function addLabels(service: string, verb: InvokeVerb): Labels {
  const common = { rpc_service: service, rpc_type: verb };
  const made: Labels = {
    duration: common,
    outcomes: {
      completed: { ...common, status: 'completed' },
      request_error: { ...common, status: 'request_error' },
      ingress_error: { ...common, status: 'ingress_error' },
      invocation_error: { ...common, status: 'invocation_error' },
    },
  };
  labels[verb].set(service, made);
  return made;
}
