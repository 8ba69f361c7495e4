/** Keys in commands become parts of the keys of stores, so they are short. */

import { limits } from '@engine/domain';
import type { HandlerCommand, InvocationQuery } from '@engine/service-protocol';
import { encodeUtf8 } from '@engine/stdx';

import { refuse, type Refusal } from './refusal.js';

/** RT0017 for the first key of a command that is longer than `limits.KEY_BYTES_MAX` bytes of UTF-8. */
export function checkKeys(command: HandlerCommand): Refusal | undefined {
  switch (command.type) {
    case 'set-state':
    case 'clear-state':
    case 'get-lazy-state':
      return checkKey('state key', command.key);
    case 'get-promise':
    case 'peek-promise':
    case 'complete-promise':
      return checkKey('name of the promise', command.key);
    case 'call':
    case 'one-way-call':
      return checkKey('key', command.key) ?? checkKey('idempotency key', command.idempotencyKey);
    case 'attach-invocation':
    case 'get-invocation-output':
      return checkQuery(command.query);
    case 'send-signal':
      return command.signal.kind === 'named-signal'
        ? checkKey('name of the signal', command.signal.name)
        : undefined;
    default:
      return undefined;
  }
}

function checkQuery(query: InvocationQuery): Refusal | undefined {
  switch (query.kind) {
    case 'invocation':
      return undefined;
    case 'workflow':
      return checkKey('key', query.key);
    case 'idempotent':
      return checkKey('key', query.key) ?? checkKey('idempotency key', query.idempotencyKey);
  }
}

function checkKey(what: string, key: string | undefined): Refusal | undefined {
  if (key === undefined || !isTooLong(key)) return undefined;
  const most = String(limits.KEY_BYTES_MAX);
  return refuse('RT0017', `the ${what} is longer than ${most} bytes, which is the limit`);
}

/** Most keys are so short that nobody has to count their bytes. */
export function isTooLong(key: string): boolean {
  if (key.length * BYTES_PER_UNIT_MAX <= limits.KEY_BYTES_MAX) return false;
  return key.length > limits.KEY_BYTES_MAX || encodeUtf8(key).length > limits.KEY_BYTES_MAX;
}

/** UTF-8 takes at most so many bytes for a unit of UTF-16. */
const BYTES_PER_UNIT_MAX = 3;
