/** Payloads of results, which entries, messages and promises carry. */

import type { NotificationResult, Result } from '@engine/domain';
import { EMPTY_BYTES } from '@engine/stdx';

type AnyResult = Result | NotificationResult;

/** The value that a result carries; undefined for failures and the like. */
export function valueOf(result: AnyResult): Uint8Array | undefined {
  return result.kind === 'success' || result.kind === 'value' ? result.value : undefined;
}

/** The same result with another value. */
export function withValue<R extends AnyResult>(result: R, value: Uint8Array = EMPTY_BYTES): R {
  return { ...result, value };
}

/** About how many bytes a result takes; at least its value. */
export function resultBytes(result: AnyResult): number {
  switch (result.kind) {
    case 'success':
    case 'value':
      return result.value.length;
    case 'failure':
      return result.failure.message.length;
    case 'state-keys':
      return result.keys.reduce((bytes, key) => bytes + key.length, 0);
    case 'void':
    case 'invocation-id':
      return 0;
  }
}
