/** Scopes and limit keys (interface §8): how they are spelt. Faults are the texts that callers see. */

import { LIMIT_KEY_LEVELS_MAX, SCOPE_LENGTH_MAX } from './limits.js';

const ALLOWED = /^[a-zA-Z0-9_.-]*$/;
const utf8 = new TextEncoder();

/** Undefined when `scope` is well formed. */
export function scopeFault(scope: string): string | undefined {
  if (scope === '') return 'value cannot be empty';
  const length = utf8.encode(scope).length;
  if (length > SCOPE_LENGTH_MAX) return `value too long: ${length} bytes (max ${SCOPE_LENGTH_MAX})`;
  if (!ALLOWED.test(scope))
    return 'value contains characters outside the allowed set [a-zA-Z0-9_.-]';
  return undefined;
}

/** Undefined when `limitKey` is well formed: one or two levels, perhaps a slash at the end. Not for the empty text. */
export function limitKeyFault(limitKey: string): string | undefined {
  const trimmed = limitKey.endsWith('/') ? limitKey.slice(0, -1) : limitKey;
  for (const [index, level] of trimmed.split('/').entries()) {
    if (index >= LIMIT_KEY_LEVELS_MAX) {
      return `too many path components in the given limit-key (max ${LIMIT_KEY_LEVELS_MAX})`;
    }
    const fault = scopeFault(level);
    if (fault !== undefined) return `invalid limit-key component: ${fault}`;
  }
  return undefined;
}
