/** Values, failures and notification results between the wire and the domain. */
import type { Failure, NotificationResult, Result } from '@engine/domain';
import { decodeUtf8Strict, encodeUtf8 } from '@engine/stdx';
import type { Failure as WireFailure, Notification } from './gen/service-protocol/messages.js';

/** Largest failure code that is taken as it is; anything above is read as FAILURE_CODE_UNKNOWN. */
const FAILURE_CODE_MAX = 65_535;
const FAILURE_CODE_UNKNOWN = 500;

/** A failure code of the wire as the domain keeps it. */
export function readFailureCode(code: number): number {
  return code > FAILURE_CODE_MAX ? FAILURE_CODE_UNKNOWN : code;
}

export function readFailure(failure: WireFailure): Failure {
  return {
    code: readFailureCode(failure.code),
    message: failure.message,
    metadata: failure.metadata,
  };
}

export function writeFailure(failure: Failure, withMetadata: boolean): WireFailure {
  const metadata = withMetadata ? failure.metadata.map(({ key, value }) => ({ key, value })) : [];
  return { code: failure.code, message: failure.message, metadata };
}

export function success(value: Uint8Array): Result {
  return { kind: 'success', value };
}

export function failed(failure: WireFailure): Result {
  return { kind: 'failure', failure: readFailure(failure) };
}

/** A key of state; throws TypeError if it is no UTF-8. */
export function readStateKey(key: Uint8Array): string {
  return decodeUtf8Strict(key);
}

/** The result part of a notification. */
export function writeNotificationResult(
  result: NotificationResult,
  withMetadata: boolean,
): NonNullable<Notification['result']> {
  switch (result.kind) {
    case 'void':
      return { $case: 'void', value: {} };
    case 'value':
      return { $case: 'value', value: { content: result.value } };
    case 'failure':
      return { $case: 'failure', value: writeFailure(result.failure, withMetadata) };
    case 'invocation-id':
      return { $case: 'invocationId', value: result.id };
    case 'state-keys':
      return { $case: 'stateKeys', value: { keys: result.keys.map((key) => encodeUtf8(key)) } };
  }
}
