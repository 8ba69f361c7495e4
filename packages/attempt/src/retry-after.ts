/** The `Retry-After` header: whole seconds, or a date as mail headers write it. */

const DATE =
  /^(?:[A-Za-z]{3}, *)?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:GMT|UTC|UT|Z|[+-]\d{4})$/;

/** Longest wait that a header can ask for: a year. */
const RETRY_AFTER_MS_MAX = 365 * 24 * 3_600_000;

/** The delay in ms; undefined if the header is absent, past or unreadable. `now` in ms since the epoch. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, RETRY_AFTER_MS_MAX);
  if (!DATE.test(text)) return undefined;
  const delayMs = Date.parse(text) - now;
  return delayMs > 0 ? Math.min(delayMs, RETRY_AFTER_MS_MAX) : undefined;
}
