/** How often a call to S3 is sent at most; between them the SDK waits. */
export const S3_TRIES_MAX = 4;

/** How long a connection to S3 may take. */
export const S3_CONNECT_MS_MAX = 3_000;

/** How long a call to S3 may take, with its repetitions; longer, and it failed (`unavailable`). */
export const S3_CALL_MS_MAX = 60_000;
