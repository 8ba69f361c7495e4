/** Parts of journal entries and await trees as JSON. */

import type { Failure, NotificationId, NotificationResult, Result } from '@engine/domain';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [member: string]: Json;
}

/** How payloads are shown. */
export type BytesToJson = (bytes: Uint8Array) => Json;

export function notificationIdJson(id: NotificationId): JsonObject {
  switch (id.kind) {
    case 'completion':
      return { CompletionId: id.id };
    case 'signal':
      return { SignalIndex: id.index };
    case 'named-signal':
      return { SignalName: id.name };
  }
}

/** The id of a signal where nothing else can stand. */
export function signalIdJson(id: NotificationId): JsonObject {
  switch (id.kind) {
    case 'signal':
      return { Index: id.index };
    case 'named-signal':
      return { Name: id.name };
    case 'completion':
      return notificationIdJson(id);
  }
}

export function failureJson({ code, message }: Failure): JsonObject {
  return { code, message };
}

export function resultJson(result: Result, toJson: BytesToJson): JsonObject {
  return result.kind === 'success'
    ? { Success: toJson(result.value) }
    : { Failure: failureJson(result.failure) };
}

/** A result of a notification or a signal; `"Void"` when there is none. */
export function notificationResultJson(result: NotificationResult, toJson: BytesToJson): Json {
  switch (result.kind) {
    case 'void':
      return 'Void';
    case 'value':
      return { Success: toJson(result.value) };
    case 'failure':
      return { Failure: failureJson(result.failure) };
    case 'invocation-id':
      return { InvocationId: result.id };
    case 'state-keys':
      return { StateKeys: result.keys };
  }
}
