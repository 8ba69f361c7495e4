/** Limits of the admin. */

const MIB = 1024 * 1024;

/** Body of a request. */
export const REQUEST_BODY_BYTES_MAX = 4 * MIB;

/** Longest wait for a partition to answer an operation; then the caller gets 503. */
export const OPERATION_TIME_MS_MAX = 10_000;

/** Body of an answer to discovery. */
export const DISCOVERY_BODY_BYTES_MAX = 16 * MIB;

/** One discovery request, from connecting to the last byte. */
export const DISCOVERY_REQUEST_MS_MAX = 10_000;

/** Requests after the first one that failed in a way that may pass. */
export const DISCOVERY_RETRIES_MAX = 4;

/** Wait before the first of them; doubles each time. */
export const DISCOVERY_RETRY_MS = 100;

/** Share that chance adds to a wait. */
export const DISCOVERY_JITTER_MAX = 0.3;

/** Invocations that are looked at in one step when a deployment is about to be removed. */
export const REMOVAL_SCAN_INVOCATIONS = 1_000;

/** What requests in progress get when the process stops. */
export const STOP_GRACE_MS = 2_000;
