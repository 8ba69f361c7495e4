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

/** Depth of an await tree; deeper ones are refused (RT0025). */
export const AWAIT_DEPTH_MAX = 1_000;

/** Waiting sinks of one invocation; more are refused with 429. */
export const RESPONSE_SINKS_MAX = 10_000;

/** Waiting places in the inbox of one object key; more are refused with 429. */
export const INBOX_LENGTH_MAX = 1_000_000;

/** Entries in one journal. */
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
