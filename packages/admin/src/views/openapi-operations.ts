/** The ingress paths of one handler, as OpenAPI path items (interface of the ingress: call, send, attach, output). */

import type { HandlerSchema, ServiceSchema } from '@engine/domain';
import { ifAny } from './handler-view.js';

type Part = Record<string, unknown>;
type PathItem = [path: string, item: Part];

export const TAGS = [
  { name: 'Request Response', description: 'Call a handler and wait for its result.' },
  { name: 'Send', description: 'Hand an invocation over, now or with a delay, and do not wait.' },
  { name: 'Attach', description: 'Wait for the result of an invocation made before.' },
  { name: 'Get Output', description: 'Look for the result of an invocation without waiting.' },
];

const KEY = parameter('key');
const DELAY = parameter('delay');
const IDEMPOTENCY_HEADER = parameter('idempotencyKeyHeader');
const IDEMPOTENCY_PATH = parameter('idempotencyKeyPath');
const GENERIC_ERROR = response('GenericError');

/** Paths in the order call, send, attach, output. A handler of a workflow that is not its run has only the first two. */
export function handlerPaths(service: ServiceSchema, handler: HandlerSchema): PathItem[] {
  const isKeyed = service.type !== 'service';
  const isWorkflow = service.type === 'workflow';
  const target = `${service.name}${isKeyed ? '/{key}' : ''}/${handler.name}`;
  const key = isKeyed ? [KEY] : [];
  const ask = [...key, ...(isWorkflow ? [] : [IDEMPOTENCY_HEADER])];
  const paths: PathItem[] = [
    [`/engine/call/${target}`, { post: callOperation(service, handler, ask) }],
    [`/engine/send/${target}`, { post: sendOperation(service, handler, [DELAY, ...ask]) }],
  ];
  if (!isWorkflow) {
    const base = `/engine/invocation/${target}/{idempotencyKey}`;
    return [...paths, ...resultPaths(base, handler, [...key, IDEMPOTENCY_PATH])];
  }
  if (handler.type !== 'workflow') return paths;
  return [...paths, ...resultPaths(`/engine/workflow/${service.name}/{key}`, handler, key)];
}

export function requestSchemaName(handler: string): string {
  return `${handler}Request`;
}

export function responseSchemaName(handler: string): string {
  return `${handler}Response`;
}

export function schemaPointer(name: string): string {
  return `#/components/schemas/${name}`;
}

function callOperation(service: ServiceSchema, handler: HandlerSchema, parameters: Part[]): Part {
  return {
    ...about(handler, `Call ${handler.name} of ${service.name} and wait for its result.`),
    operationId: handler.name,
    tags: ['Request Response'],
    parameters,
    requestBody: requestBody(handler),
    responses: { '200': resultResponse(handler), default: GENERIC_ERROR },
  };
}

function sendOperation(service: ServiceSchema, handler: HandlerSchema, parameters: Part[]): Part {
  const text = `Send an invocation of ${handler.name} to ${service.name} without waiting for its result.`;
  const accepted = response('Send');
  return {
    ...about(handler, text),
    operationId: `${handler.name}Send`,
    tags: ['Send'],
    parameters,
    requestBody: requestBody(handler),
    responses: { '200': accepted, '202': accepted, default: GENERIC_ERROR },
  };
}

/** The old paths to a result; callers of today use `/engine/attach` and `/engine/output`, which belong to no service. */
function resultPaths(base: string, handler: HandlerSchema, parameters: Part[]): PathItem[] {
  const result = resultResponse(handler);
  const attach = {
    ...about(handler, `Wait for the result of an invocation of ${handler.name}.`),
    operationId: `${handler.name}Attach`,
    deprecated: true,
    tags: ['Attach'],
    parameters,
    responses: { '200': result, default: GENERIC_ERROR },
  };
  const output = {
    ...about(handler, `Get the result of an invocation of ${handler.name} if it has completed.`),
    operationId: `${handler.name}Output`,
    deprecated: true,
    tags: ['Get Output'],
    parameters,
    responses: {
      '200': result,
      '404': response('InvocationNotFoundError'),
      '470': response('InvocationNotReadyError'),
      default: GENERIC_ERROR,
    },
  };
  return [
    [`${base}/attach`, { get: attach }],
    [`${base}/output`, { get: output }],
  ];
}

function about(handler: HandlerSchema, description: string): Part {
  return {
    summary: handler.name,
    description: handler.documentation ?? description,
    'x-engine-extensions': ifAny(handler.metadata),
  };
}

/** Undefined when the handler takes no body. Without input rules anything is taken. */
function requestBody({ name, input }: HandlerSchema): Part | undefined {
  if (input === undefined) return { required: false, content: { '*/*': {} } };
  if (input.contentType === undefined) return undefined;
  return {
    required: input.required,
    content: { [input.contentType]: payload(input.jsonSchema, requestSchemaName(name)) },
  };
}

function resultResponse({ name, output }: HandlerSchema): Part {
  if (output === undefined) return { description: 'Result', content: { 'application/json': {} } };
  if (output.contentType === undefined) return { description: 'Empty' };
  return {
    description: 'Result',
    content: { [output.contentType]: payload(output.jsonSchema, responseSchemaName(name)) },
  };
}

function payload(jsonSchema: unknown, name: string): Part {
  return jsonSchema === undefined ? {} : { schema: { $ref: schemaPointer(name) } };
}

function parameter(name: string): Part {
  return { $ref: `#/components/parameters/${name}` };
}

function response(name: string): Part {
  return { $ref: `#/components/responses/${name}` };
}
