/** Commands of a journal as JSON. */

import {
  targetKind,
  type Header,
  type InvocationId,
  type JournalEntry,
  type SchemaLookup,
  type TargetKind,
} from '@engine/domain';
import {
  commandTypeName,
  decodeCommand,
  readEagerState,
  readEagerStateKeys,
  type HandlerCommand,
  type InvocationQuery,
} from '@engine/service-protocol';
import { assertNever } from '@engine/stdx';
import {
  notificationResultJson,
  resultJson,
  signalIdJson,
  type BytesToJson,
  type Json,
  type JsonObject,
} from './json-parts.js';

type StoredCommand = Extract<JournalEntry, { kind: 'command' }>;
type Call = Extract<HandlerCommand, { type: 'call' | 'one-way-call' }>;

interface Telling {
  readonly schema: SchemaLookup;
  readonly toJson: BytesToJson;
}

export interface CommandJson {
  readonly type: string;
  readonly members: JsonObject;
  /** Members of the lite form. */
  readonly lite: JsonObject;
}

/** A command entry with its members, in full and lite. */
export function commandJson(
  entry: Exclude<JournalEntry, { kind: 'notification' }>,
  telling: Telling,
): CommandJson {
  const { toJson } = telling;
  switch (entry.kind) {
    case 'input': {
      const payload = toJson(entry.payload);
      const members = { headers: headersJson(entry.headers), payload, name: '' };
      return { type: 'Input', members, lite: {} };
    }
    case 'output': {
      const members = { result: resultJson(entry.result, toJson), name: entry.name };
      return { type: 'Output', members, lite: { result: tagOf(members.result) } };
    }
    case 'command': {
      const members = { ...storedMembers(entry, telling), name: entry.name };
      return { type: commandTypeName(entry.type), members, lite: liteMembers(entry.type, members) };
    }
  }
}

/** Members besides the name. */
function storedMembers(entry: StoredCommand, telling: Telling): JsonObject {
  const { toJson } = telling;
  const command = decodeCommand(entry.type, entry.raw);
  switch (command.type) {
    case 'get-eager-state': {
      const { key, value } = readEagerState(entry.raw);
      return { key, result: value === undefined ? 'Void' : { Success: toJson(value) } };
    }
    case 'get-eager-state-keys':
      return { state_keys: readEagerStateKeys(entry.raw) };
    case 'get-lazy-state':
    case 'get-promise':
    case 'peek-promise':
      return { key: command.key, completion_id: command.completionId };
    case 'get-lazy-state-keys':
    case 'run':
      return { completion_id: command.completionId };
    case 'set-state':
      return { key: command.key, value: toJson(command.value) };
    case 'clear-state':
      return { key: command.key };
    case 'clear-all-state':
      return {};
    case 'sleep':
      return { wake_up_time: command.wakeUpTime, completion_id: command.completionId };
    case 'call':
      return {
        ...callMembers(command, entry.callee, telling),
        result_completion_id: command.resultCompletionId,
      };
    case 'one-way-call':
      return {
        ...callMembers(command, entry.callee, telling),
        invoke_time: command.invokeTime ?? 0,
      };
    case 'attach-invocation':
    case 'get-invocation-output':
      return { target: queryJson(command.query), completion_id: command.completionId };
    case 'complete-promise': {
      const value = resultJson(command.completion, toJson);
      return { key: command.key, value, completion_id: command.completionId };
    }
    case 'complete-awakeable':
      return { id: command.awakeableId, result: resultJson(command.result, toJson) };
    case 'send-signal':
      return {
        target_invocation_id: command.target,
        signal_id: signalIdJson(command.signal),
        result: notificationResultJson(command.result, toJson),
      };
    case 'output':
      return { result: resultJson(command.result, toJson) };
    default:
      return assertNever(command);
  }
}

/** Members that the lite form keeps, besides `result`, of which it keeps the tag. */
const LITE_MEMBERS: Readonly<Record<StoredCommand['type'], readonly string[]>> = {
  'get-eager-state': ['key', 'result'],
  'get-eager-state-keys': [],
  'get-lazy-state': ['key', 'completion_id'],
  'get-lazy-state-keys': ['completion_id'],
  'set-state': ['key'],
  'clear-state': ['key'],
  'clear-all-state': [],
  sleep: ['wake_up_time', 'completion_id'],
  call: [
    'invocation_id',
    'invocation_target',
    'invocation_id_completion_id',
    'result_completion_id',
  ],
  'one-way-call': [
    'invocation_id',
    'invocation_target',
    'invoke_time',
    'invocation_id_completion_id',
  ],
  run: ['completion_id', 'name'],
  'attach-invocation': ['target', 'completion_id'],
  'get-invocation-output': ['target', 'completion_id'],
  'get-promise': ['key', 'completion_id'],
  'peek-promise': ['key', 'completion_id'],
  'complete-promise': ['key', 'completion_id'],
  'complete-awakeable': ['id', 'result'],
  'send-signal': ['target_invocation_id', 'signal_id', 'result'],
};

function liteMembers(type: StoredCommand['type'], members: JsonObject): JsonObject {
  const request = members['request'];
  const known = { ...(isObject(request) ? request : {}), ...members };
  const kept = LITE_MEMBERS[type].flatMap((name): [string, Json][] => {
    const member = known[name];
    if (member === undefined) return [];
    return [[name, name === 'result' ? tagOf(member) : member]];
  });
  return Object.fromEntries(kept);
}

function callMembers(
  command: Call,
  callee: InvocationId | undefined,
  { schema, toJson }: Telling,
): JsonObject {
  const request = {
    invocation_id: callee ?? null,
    invocation_target: targetJson(command, schema),
    parameter: toJson(command.parameter),
    headers: headersJson(command.headers),
    idempotency_key: command.idempotencyKey ?? null,
  };
  return { request, invocation_id_completion_id: command.invocationIdCompletionId };
}

const TARGET_TYPES: Readonly<Record<TargetKind, readonly [type: string, handlerType?: string]>> = {
  service: ['Service'],
  'object-exclusive': ['VirtualObject', 'Exclusive'],
  'object-shared': ['VirtualObject', 'Shared'],
  'workflow-run': ['Workflow', 'Workflow'],
  'workflow-shared': ['Workflow', 'Shared'],
};

/** The journal does not say of what kind the callee is: the schema does, as it is now. */
function targetJson({ service, key, handler, scope }: Call, schema: SchemaLookup): JsonObject {
  const resolved = schema.handler(service, handler);
  const guess = key === '' ? 'service' : 'object-exclusive';
  const kind = resolved === undefined ? guess : targetKind(resolved.service, resolved.handler);
  const [type, handlerType] = TARGET_TYPES[kind];
  const common = { handler, scope: scope ?? null };
  return handlerType === undefined
    ? { [type]: { name: service, ...common } }
    : { [type]: { name: service, key, handler_ty: handlerType, ...common } };
}

function queryJson(query: InvocationQuery): JsonObject {
  switch (query.kind) {
    case 'invocation':
      return { InvocationId: query.id };
    case 'workflow':
      return { Workflow: { service_name: query.service, key: query.key } };
    case 'idempotent': {
      const { service, key, handler, idempotencyKey } = query;
      return {
        IdempotentRequest: {
          service_name: service,
          service_key: key ?? null,
          service_handler: handler,
          idempotency_key: idempotencyKey,
        },
      };
    }
  }
}

function headersJson(headers: readonly Header[]): Json {
  return headers.map(({ key, value }) => ({ name: key, value }));
}

/** `Success` of `{"Success":…}`; a tag without content is the text itself. */
function tagOf(result: Json): Json {
  return isObject(result) ? (Object.keys(result)[0] ?? null) : result;
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
