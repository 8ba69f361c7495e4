/** Limits that only the ingress knows. Those marked "interface" are part of the HTTP contract. */

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;

/** Header fields of one request; more are answered with 431 (interface). */
export const REQUEST_HEADERS_MAX = 100;

/** Characters of a request target; longer ones are answered with 414 (interface). */
export const REQUEST_TARGET_LENGTH_MAX = 65_534;

/** Request line and header fields together; single headers of half a megabyte are accepted (interface). */
export const HEADER_BLOCK_BYTES_MAX = MIB;

/** Streams that one HTTP/2 connection may have open, unless configured (interface). */
export const HTTP2_STREAMS_MAX = 200;

/** Flow control window of one HTTP/2 stream. */
export const HTTP2_WINDOW_BYTES = MIB;

/** Memory of one HTTP/2 session in megabytes, the unit of the platform: enough for bodies of the largest size in parallel. */
export const HTTP2_SESSION_MEGABYTES_MAX = 512;

/** Header block of an HTTP/2 request (interface). */
export const HTTP2_HEADER_BLOCK_BYTES_MAX = 16 * KIB;

/** Requests in progress at once, unless configured lower; more are answered with 429. */
export const CONCURRENT_REQUESTS_MAX = 100_000;

/** Bodies of requests in progress, in all, unless configured; further large ones are answered with 429. */
export const BODIES_IN_FLIGHT_BYTES_MAX = 1024 * MIB;

/** Answers that are waited for, also for callers that have gone away; more are answered with 429. */
export const WAITING_ANSWERS_MAX = 200_000;

/** First pause before a request is sent again to a partition that moves, doubled each time. */
export const RESEND_PAUSE_MS = 50;
export const RESEND_PAUSE_MS_MAX = 1_000;

/** How long a request is sent again. Shorter than the time for which a partition remembers a finished request. */
export const RESEND_WINDOW_MS = 4 * MINUTE_MS;

/** Pause between two reads of the schema for names that are not in it. */
export const SCHEMA_READ_PAUSE_MS = 20;

/** Time that open requests get after the listener has closed (interface). */
export const STOP_GRACE_MS = 5_000;

/** Characters of a scope and of each level of a limit key (interface §8). */
export const SCOPE_LENGTH_MAX = 36;
export const LIMIT_KEY_LEVELS_MAX = 2;

/** Seconds in `retry-after` when a partition refuses work. */
export const RETRY_AFTER_SECONDS = 1;

/** Oldest service protocol that new invocations may use. */
export const PROTOCOL_VERSION_MIN = 5;
