/** Every limit that more than one package knows, by name. Limits of one package alone stand in that package. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Largest message of a deployment and largest request body, unless configured. */
export const MESSAGE_SIZE_BYTES_MAX = 32 * MIB;

/** Room for the fields around a payload of exactly the largest size. */
export const MESSAGE_OVERHEAD_BYTES_MAX = 256 * KIB;

/** A commit group closes when its mutations reach this size, so that a big payload delays only itself. */
export const RECORD_SIZE_BYTES_MAX = MIB;

/** Commands that wait to be decided in one partition; more are refused as overload. */
export const PARTITION_QUEUE_LENGTH_MAX = 65_536;

/** Payloads of the commands that wait to be decided in one partition, in bytes; more are refused as overload. */
export const PARTITION_QUEUE_BYTES_MAX = 256 * MIB;

/** Payloads that the attempts of a worker hold in memory, unless configured; beyond it attempts wait for room. */
export const PAYLOAD_MEMORY_BYTES_MAX = 1_536 * MIB;

/** A key in UTF-8: of an object, a state value, a promise, a named signal, or for idempotency. Longer ones are refused. */
export const KEY_BYTES_MAX = 64 * KIB;

/** Depth of an await tree; deeper ones are refused (RT0025). */
export const AWAIT_DEPTH_MAX = 1_000;

/** Waiting sinks of one invocation; more are refused with 429. */
export const RESPONSE_SINKS_MAX = 10_000;

/** Waiting places in the inbox of one object key; more are refused with 429. */
export const INBOX_LENGTH_MAX = 1_000_000;

/** Replacements of the state that wait in the inbox of one object key; more are refused (`limit-reached`). */
export const INBOX_REPLACEMENTS_MAX = 100;

/** Entries of a state that is replaced as a whole, in one decision; more are refused (HTTP 413). */
export const STATE_REPLACEMENT_ENTRIES_MAX = 10_000;

/** Entries in one journal; with a further command the invocation is paused, further signals are dropped. */
export const JOURNAL_LENGTH_MAX = 1_000_000;

/** Bytes of message and stack trace that the last failure of an invocation keeps, each. */
export const FAILURE_TEXT_BYTES_MAX = 8 * KIB;

/** Largest piece in which a payload is stored. */
export const STORED_CHUNK_BYTES_MAX = 64 * KIB;

/** How long the end of an invocation stays known to its own request whatever the retention (docs/design/leadership.md). */
export const END_GRACE_MS = 5 * 60_000;

/** Invocations that run at once in one partition leader, unless configured. */
export const CONCURRENT_INVOCATIONS_MAX = 1_000;

/** Journal entries that one step of a purge removes. */
export const PURGE_SLICE_ENTRIES = 1_000;

/** Longest duration that has a text: what its readers accept. */
export const DURATION_MS_MAX = 631_107_417_600_000;

/** Delays in a row that deployments may set before a retry without using up an attempt of the policy. */
export const FREE_RETRY_DELAYS_MAX = 10_000;

/** Longest wait before a retry, whatever a policy or a deployment asks for: a year. */
export const RETRY_DELAY_MS_MAX = 365 * 24 * 3_600_000;

/** Journal entries that a restart takes over, completions included; more are refused (`limit-reached`). */
export const RESTART_ENTRIES_MAX = 10_000;

/** Bytes of payload that a restart takes over beside the input; more are refused (`limit-reached`). */
export const RESTART_BYTES_MAX = 64 * MIB;
