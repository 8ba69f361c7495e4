/**
 * Journal entries as JSON: `{"Command":{"Sleep":{…}}}`, `{"Notification":{"Completion":{"Run":{…}}}}`. The lite form has no
 * payloads and tells only how a result ended.
 */

import type { JournalEntry, SchemaLookup } from '@engine/domain';
import { notificationTypeName } from '@engine/service-protocol';
import { commandJson } from './command-json.js';
import {
  failureJson,
  notificationIdJson,
  notificationResultJson,
  signalIdJson,
  type BytesToJson,
  type JsonObject,
} from './json-parts.js';

type NotificationEntry = Extract<JournalEntry, { kind: 'notification' }>;

/** All of an entry; bytes are arrays of numbers. `schema` tells what kind of handler a call is for. */
export function entryJson(entry: JournalEntry, schema: SchemaLookup): string {
  if (entry.kind === 'notification') return JSON.stringify(notificationJson(entry));
  const { type, members } = commandJson(entry, { schema, toJson: numbersOf });
  return JSON.stringify({ Command: { [type]: members } });
}

/** An entry without its payloads. */
export function entryLiteJson(entry: JournalEntry, schema: SchemaLookup): string {
  if (entry.kind === 'notification') return JSON.stringify(notificationLiteJson(entry));
  const { lite, type } = commandJson(entry, { schema, toJson: nothingOf });
  return JSON.stringify({ Command: { [type]: lite } });
}

const numbersOf: BytesToJson = (bytes) => Array.from(bytes);
const nothingOf: BytesToJson = () => [];

function notificationJson(entry: NotificationEntry): JsonObject {
  if (entry.type === 'signal') {
    const signal = {
      id: signalIdJson(entry.id),
      result: notificationResultJson(entry.result, numbersOf),
    };
    return { Notification: { Signal: signal } };
  }
  const id = entry.id.kind === 'completion' ? entry.id.id : null;
  const members = { completion_id: id, ...completionMembers(entry) };
  return { Notification: { Completion: { [notificationTypeName(entry.type)]: members } } };
}

function completionMembers({ type, result }: NotificationEntry): JsonObject {
  if (type === 'sleep') return {};
  switch (result.kind) {
    case 'invocation-id':
      return { invocation_id: result.id };
    case 'state-keys':
      return { state_keys: result.keys };
    case 'failure':
      return { result: { Failure: failureJson(result.failure) } };
    case 'void':
    case 'value':
      return { result: notificationResultJson(result, numbersOf) };
  }
}

const RESULT_TAGS = {
  void: 'Void',
  value: 'Success',
  failure: 'Failure',
  'invocation-id': 'InvocationId',
  'state-keys': 'StateKeys',
} as const;

function notificationLiteJson({ type, id, result }: NotificationEntry): JsonObject {
  const ty = type === 'signal' ? 'Signal' : { Completion: notificationTypeName(type) };
  const parts = { ty, id: notificationIdJson(id), result: RESULT_TAGS[result.kind] };
  return { Notification: parts };
}
