/**
 * From the raw path to a route. The method plays no part here: what is wrong with a path is said first (400, 404), and each
 * route looks at the method itself. Whether a path has a key follows from the registered type of the service.
 */

import { parseInvocationId, type ResolvedService, type SchemaLookup } from '@engine/domain';
import type { InvokeVerb } from './events.js';
import type { InvocationQuery } from './invocation-query.js';
import { decodeSegment } from './path-text.js';
import { NOT_FOUND, refuse, type Refusal } from './refusal.js';

export interface InvokeRoute {
  readonly kind: 'invoke';
  readonly verb: InvokeVerb;
  readonly service: ResolvedService;
  /** Set exactly for objects and workflows. */
  readonly key: string | undefined;
  readonly handler: string;
  /** Decoded, not checked. */
  readonly scope: string | undefined;
}

export type ResultVerb = 'attach' | 'output';

export type ColdRoute =
  | { readonly kind: 'health' }
  | { readonly kind: 'lookup' }
  /** Without a query the body of a POST names the invocation. */
  | {
      readonly kind: 'result';
      readonly verb: ResultVerb;
      readonly query: InvocationQuery | undefined;
    }
  | { readonly kind: 'awakeable'; readonly verb: 'resolve' | 'reject'; readonly id: string };

export type Route =
  InvokeRoute | ColdRoute | { readonly kind: 'refused'; readonly refusal: Refusal };

const SLASHES_MIN = 2;
const SLASHES_MAX = 7;

const OLD_CALL_SHAPE =
  'bad path, expected either /:service-name/:handler or /:object-name/:object-key/:handler';
const SHAPE =
  'bad path, expected /engine/call/:service/:handler, /engine/send/:service/:handler, ' +
  '/engine/scope/:scope/call/:service/:handler, /engine/attach/:invocation_id, ' +
  '/engine/output/:invocation_id, or /engine/lookup';
const INVOCATION_SHAPE =
  'bad path, expected either /engine/invocation/:invocation_id/output or ' +
  '/engine/invocation/:invocation_id/attach or ' +
  '/engine/invocation/:invocation_target/:idempotency_key/output or ' +
  '/engine/invocation/:invocation_target/:idempotency_key/attach';
const WORKFLOW_SHAPE =
  'bad path, expected either /engine/workflow/:workflow_name/:workflow_key/output or ' +
  '/engine/workflow/:workflow_name/:workflow_key/attach';
const AWAKEABLE_SHAPE =
  'bad path, expected either /engine/awakeables/:id/resolve or /engine/awakeables/:id/reject';

/** `path` has one leading slash and none at the end (`parseRequestTarget`). */
export function routeOf(path: string, schema: SchemaLookup): Route {
  const segments = path.split('/');
  const slashes = segments.length - 1;
  if (slashes < SLASHES_MIN || slashes > SLASHES_MAX) return refused(400, `bad path: ${path}`);
  switch (segments[1]) {
    case 'engine':
    case 'restate':
      return reservedRoute(segments, schema);
    case 'openapi':
      return notFound();
    default:
      return oldInvokeRoute(segments, schema);
  }
}

// Segments of a reserved path: '', prefix, verb, rest…
function reservedRoute(segments: readonly string[], schema: SchemaLookup): Route {
  switch (segments[2]) {
    case 'call':
      return invokeRoute(segments.slice(3), { verb: 'call', scope: undefined }, schema);
    case 'send':
      return invokeRoute(segments.slice(3), { verb: 'send', scope: undefined }, schema);
    case 'scope':
      return scopedRoute(segments, schema);
    case 'attach':
    case 'output':
      return resultRoute(segments, segments[2]);
    case 'lookup':
      return segments.length === 3 ? { kind: 'lookup' } : refused(400, SHAPE);
    case 'health':
      return { kind: 'health' };
    case 'awakeables':
    case 'a':
      return awakeableRoute(segments);
    case 'invocation':
      return oldInvocationRoute(segments.slice(3), schema);
    case 'workflow':
      return oldWorkflowRoute(segments.slice(3));
    default:
      return notFound();
  }
}

function scopedRoute(segments: readonly string[], schema: SchemaLookup): Route {
  const verb = segments[4];
  if (verb !== 'call' && verb !== 'send') return refused(400, SHAPE);
  const scope = decodeSegment(segments[3] ?? '');
  if (scope === undefined) return refused(400, cannotDecode('scope'));
  return invokeRoute(segments.slice(5), { verb, scope }, schema);
}

function invokeRoute(
  tail: readonly string[],
  prefix: { readonly verb: InvokeVerb; readonly scope: string | undefined },
  schema: SchemaLookup,
): Route {
  const name = tail[0];
  if (name === undefined) return refused(400, SHAPE);
  const service = schema.service(name);
  if (service === undefined) return refused(404, serviceUnknown(name));
  const isKeyed = service.service.type !== 'service';
  const handler = isKeyed ? tail[2] : tail[1];
  if (handler === undefined || tail.length !== (isKeyed ? 3 : 2)) return refused(400, SHAPE);
  return withKey(isKeyed ? tail[1] : undefined, (key) => ({
    kind: 'invoke',
    verb: prefix.verb,
    service,
    key,
    handler,
    scope: prefix.scope,
  }));
}

// '', service, [key], handler, ['send']
function oldInvokeRoute(segments: readonly string[], schema: SchemaLookup): Route {
  const name = segments[1] ?? '';
  const service = schema.service(name);
  if (service === undefined) return refused(404, serviceUnknown(name));
  const isKeyed = service.service.type !== 'service';
  const place = isKeyed ? 3 : 2;
  const handler = segments[place];
  const suffix = segments[place + 1];
  const isShort = segments.length === place + 1;
  const isSend = segments.length === place + 2 && suffix === 'send';
  if (handler === undefined || !(isShort || isSend)) return refused(400, OLD_CALL_SHAPE);
  return withKey(isKeyed ? segments[2] : undefined, (key) => ({
    kind: 'invoke',
    verb: isSend ? 'send' : 'call',
    service,
    key,
    handler,
    scope: undefined,
  }));
}

function resultRoute(segments: readonly string[], verb: ResultVerb): Route {
  if (segments.length === 3) return { kind: 'result', verb, query: undefined };
  if (segments.length > 4) return refused(400, SHAPE);
  return resultById(segments[3] ?? '', verb);
}

function resultById(text: string, verb: ResultVerb): Route {
  const parsed = parseInvocationId(text);
  if (parsed.kind === 'bad') {
    return refused(400, `bad invocation id '${text}': ${parsed.reason}`);
  }
  return { kind: 'result', verb, query: { kind: 'invocation', id: parsed.id } };
}

function awakeableRoute(segments: readonly string[]): Route {
  const [, , , id, verb] = segments;
  if (id === undefined || verb === undefined) return refused(400, AWAKEABLE_SHAPE);
  if (verb !== 'resolve' && verb !== 'reject') return notFound();
  return { kind: 'awakeable', verb, id };
}

// Two segments: id, verb. More: service, [key], handler, idempotency key, verb; the idempotency key is not decoded.
function oldInvocationRoute(tail: readonly string[], schema: SchemaLookup): Route {
  const [first, second] = tail;
  if (first === undefined || second === undefined) return refused(400, INVOCATION_SHAPE);
  if (tail.length === 2) return isResultVerb(second) ? resultById(first, second) : notFound();
  const service = schema.service(first);
  if (service === undefined) return refused(404, serviceUnknown(first));
  const isKeyed = service.service.type !== 'service';
  const [handler, idempotencyKey, verb] = tail.slice(isKeyed ? 2 : 1);
  if (handler === undefined || idempotencyKey === undefined || verb === undefined) {
    return refused(400, INVOCATION_SHAPE);
  }
  if (!isResultVerb(verb)) return notFound();
  return withKey(isKeyed ? second : undefined, (key) => ({
    kind: 'result',
    verb,
    query: {
      kind: 'idempotent',
      service: first,
      key,
      handler,
      idempotencyKey,
      scope: undefined,
    },
  }));
}

function oldWorkflowRoute(tail: readonly string[]): Route {
  const [service, key, verb] = tail;
  if (service === undefined || key === undefined || verb === undefined) {
    return refused(400, WORKFLOW_SHAPE);
  }
  if (!isResultVerb(verb)) return notFound();
  const decoded = decodeSegment(key);
  if (decoded === undefined) return refused(400, cannotDecode('key'));
  const query = { kind: 'workflow', service, key: decoded, scope: undefined } as const;
  return { kind: 'result', verb, query };
}

function withKey(segment: string | undefined, make: (key: string | undefined) => Route): Route {
  if (segment === undefined) return make(undefined);
  const key = decodeSegment(segment);
  return key === undefined ? refused(400, cannotDecode('key')) : make(key);
}

function isResultVerb(verb: string): verb is ResultVerb {
  return verb === 'attach' || verb === 'output';
}

function cannotDecode(part: 'key' | 'scope'): string {
  return `bad path, cannot decode ${part}: not UTF-8`;
}

function serviceUnknown(name: string): string {
  return `service '${name}' not found, make sure to register the service before calling it.`;
}

function notFound(): Route {
  return { kind: 'refused', refusal: NOT_FOUND };
}

function refused(status: number, message: string): Route {
  return { kind: 'refused', refusal: refuse(status, message) };
}
