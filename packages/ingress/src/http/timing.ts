/** When an invocation is to start: the `delay` of a send, and the checks of query and headers around it. */

import { parseDelay, TIMESTAMP_MS_MAX } from '@engine/domain';
import type { Clock } from '@engine/runtime';
import type { InvokeVerb } from '../events.js';
import { badHeader, refuse, type Refusal } from '../refusal.js';
import { limitKeyFault } from '../scope-grammar.js';
import type { Exchange } from './exchange.js';
import { findBadHeader, isVisibleAscii } from './request-head.js';

const NOW = { executionTime: undefined };
const DELAY_ON_CALL = refuse(
  400,
  'cannot use the delay query parameter with calls. The delay is supported only with sends',
);

/** What the query and the remaining headers say, in the order in which faults are reported. */
export function timingOf(
  exchange: Exchange,
  verb: InvokeVerb,
  clock: Clock,
): Refusal | { readonly executionTime: number | undefined } {
  const query = exchange.query === undefined ? undefined : new URLSearchParams(exchange.query);
  const delay = query === undefined ? undefined : firstOf(query, 'delay');
  const delayMs = delay === undefined ? undefined : delayOf(delay);
  if (typeof delayMs === 'object') return delayMs;
  const limitKey = limitKeyRefusal(exchange, query);
  if (limitKey !== undefined) return limitKey;
  const bad = findBadHeader(exchange.head);
  if (bad !== undefined) return badHeader(bad);
  if (delayMs === undefined) return NOW;
  if (verb === 'call') return DELAY_ON_CALL;
  const executionTime = clock.now() + delayMs;
  return executionTime > TIMESTAMP_MS_MAX
    ? badDelay('it ends after the year 9999')
    : { executionTime };
}

function delayOf(text: string): Refusal | number {
  const parsed = parseDelay(text);
  return parsed.kind === 'ok' ? parsed.ms : badDelay(parsed.reason);
}

function badDelay(reason: string): Refusal {
  return refuse(400, `bad delay query parameter, must be a ISO8601 duration: ${reason}`);
}

/** The header wins over the query parameter; an empty value means none. */
function limitKeyRefusal(
  exchange: Exchange,
  query: URLSearchParams | undefined,
): Refusal | undefined {
  const header = exchange.head.limitKey;
  if (header !== undefined && !isVisibleAscii(header.value)) return badHeader(header.name);
  const value = header?.value ?? (query === undefined ? undefined : firstOf(query, 'limit-key'));
  if (value === undefined || value === '') return undefined;
  const fault = limitKeyFault(value);
  // A scope does not get this far: scoped paths are refused while flow control is off.
  return refuse(
    400,
    fault === undefined ? 'limit-key requires a scope to be set' : `invalid limit-key: ${fault}`,
  );
}

/** Names of query parameters are compared without regard to case; the first one counts. */
function firstOf(query: URLSearchParams, name: string): string | undefined {
  for (const [key, value] of query) if (key.toLowerCase() === name) return value;
  return undefined;
}
