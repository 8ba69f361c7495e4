/** The `Retry-After` header: whole seconds, or a date as mail headers write it. */

import { limits } from '@engine/domain';

const DATE =
  /^(?:[A-Za-z]{3}, *)?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:GMT|UTC|UT|Z|[+-]\d{4})$/;

/** The delay in ms, at most `limits.RETRY_DELAY_MS_MAX`; undefined if the header is absent, past or unreadable. `now`: ms since the epoch. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, limits.RETRY_DELAY_MS_MAX);
  if (!DATE.test(text)) return undefined;
  const delayMs = Date.parse(text) - now;
  return delayMs > 0 ? Math.min(delayMs, limits.RETRY_DELAY_MS_MAX) : undefined;
}
