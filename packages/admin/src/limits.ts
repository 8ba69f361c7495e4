/** Limits of the admin. */

const MIB = 1024 * 1024;

/** Body of a request. */
export const REQUEST_BODY_BYTES_MAX = 4 * MIB;

/** Body of a request that replaces a state: in arrays of numbers, a quarter of that in values. Larger ones would hold up the process. */
export const STATE_BODY_BYTES_MAX = 2 * MIB;

/** Answers from this size on are compressed for clients that can read that. */
export const COMPRESSION_BYTES_MIN = 1024;

/** Longest wait for a partition to answer an operation; then the caller gets 503. */
export const OPERATION_TIME_MS_MAX = 10_000;

/** Body of an answer to discovery. */
export const DISCOVERY_BODY_BYTES_MAX = 16 * MIB;

/** One discovery request, from connecting to the last byte. */
export const DISCOVERY_REQUEST_MS_MAX = 10_000;

/** One call of a function for discovery; it may have to be started first. */
export const DISCOVERY_CALL_MS_MAX = 60_000;

/** One conversion of a payload by a deployment. */
export const SERDES_REQUEST_MS_MAX = 10_000;

/** Requests after the first one that failed in a way that may pass. */
export const DISCOVERY_RETRIES_MAX = 4;

/** Wait before the first of them; doubles each time. */
export const DISCOVERY_RETRY_MS = 100;

/** Share that chance adds to a wait. */
export const DISCOVERY_JITTER_MAX = 0.3;

/** Invocations that are looked at in one step when a deployment is about to be removed. */
export const REMOVAL_SCAN_INVOCATIONS = 1_000;

/** A connection that has said nothing for so long is closed. */
export const SILENCE_MS_MAX = 60_000;

/** What requests in progress get when the process stops. */
export const STOP_GRACE_MS = 2_000;

/** Invocations in one request to the batch forms of the operations, and named one by one in a batch operation. */
export const BATCH_INVOCATIONS_MAX = 1_000;

/** Operations that one such request, or one batch operation, has under way at the same time. */
export const BATCH_OPERATIONS_CONCURRENT_MAX = 64;

/** Batch operations that run at the same time; a further one is refused with 429. */
export const BATCH_RUNNING_MAX = 10;

/** Batch operations that are remembered, running ones included; a new one takes the place of the one that ended first. */
export const BATCH_KEPT_MAX = 100;

/** How long an ended batch operation is remembered at most. */
export const BATCH_KEPT_MS_MAX = 7 * 86_400_000;

/** Invocations between two times that the progress of a batch operation is saved. An abort takes effect within them. */
export const BATCH_PAGE_INVOCATIONS = 100;

/** Invocations that are looked at for one page; then the place is saved although fewer were found. */
export const BATCH_PAGE_SCANNED_MAX = 5_000;

/** Failures that a batch operation lists with their reason; all are counted. */
export const BATCH_FAILURES_LISTED_MAX = 100;

/** Wait before an operation is asked again of a partition that takes no work now; doubles each time, up to the maximum. */
export const BATCH_RETRY_MS = 100;
export const BATCH_RETRY_MS_MAX = 5_000;

/** Journal entries that are looked through for a cancellation that was asked for before. */
export const BATCH_REPEAT_ENTRIES_MAX = 10_000;

/** Batch operations in one page of the list, unless asked for otherwise. */
export const BATCH_LISTED_DEFAULT = 20;
