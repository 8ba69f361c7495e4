/** What an error of JetStream says about an append. Pure. */

import type { AppendAnswer } from './log-stream.js';

export interface ApiError {
  readonly code: number;
  readonly err_code?: number;
  readonly description?: string;
}

/** The expected sequence was another: also while a proposal of somebody is under way that may yet be dropped. */
const WRONG_LAST: ReadonlySet<number> = new Set([10_071, 10_163, 10_164]);

/** Not enough storage, message too large, store failed (which is how a full stream with discard new answers). */
const REFUSED: ReadonlySet<number> = new Set([10_023, 10_028, 10_047, 10_054, 10_077, 10_122]);

/** Too few servers are known so far: they have just started. */
const PASSING: ReadonlySet<number> = new Set([10_005]);

const SERVICE_UNAVAILABLE = 503;
const NOT_FOUND = 404;

export function refusalOf({
  code,
  err_code: errorCode = 0,
  description = '',
}: ApiError): AppendAnswer {
  if (WRONG_LAST.has(errorCode)) return { kind: 'wrong-last' };
  const why = `${description} (${String(errorCode)})`;
  if (REFUSED.has(errorCode)) return { kind: 'refused', why };
  if (PASSING.has(errorCode)) return { kind: 'unavailable', why };
  const isUnavailable = code >= SERVICE_UNAVAILABLE || code === NOT_FOUND;
  return { kind: isUnavailable ? 'unavailable' : 'refused', why };
}
