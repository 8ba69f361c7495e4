/** Limits of the way to functions. AWS has its own: 6 MB for a request and a response, 15 minutes for a call. */

const MIB = 1024 * 1024;

/**
 * Body of a request before it is packed. Packed, what is larger hardly fits into the 6 MB that AWS takes, and all of it is in
 * memory several times while it is packed.
 */
export const REQUEST_BODY_BYTES_MAX = 64 * MIB;

/**
 * The same body when it is packed, or cannot be. AWS takes less; this only keeps what it would refuse from being written as JSON,
 * which holds the thread for about 3 ms per MiB.
 */
export const PACKED_BODY_BYTES_MAX = 16 * MIB;

/** Bodies from this size on are compressed if the function can unpack them. */
export const COMPRESSION_THRESHOLD_BYTES = 4 * MIB;

/** Level of zstd: its default, fast. */
export const COMPRESSION_LEVEL = 3;

/** The JSON that a function answers with, unpacked by nobody yet. AWS allows 6 MB; more comes from something else. */
export const RESPONSE_PAYLOAD_BYTES_MAX = 16 * MIB;

/** Pieces in which the body of a response is handed on. */
export const BODY_PIECE_BYTES = 64 * 1024;

/** What a failed function said of itself, in UTF-16 units; the rest is cut. */
export const ERROR_TEXT_LENGTH_MAX = 2_000;

/** AWS must be reachable in this time. */
export const CONNECT_MS_MAX = 10_000;

/** Longest wait for AWS to give a role. */
export const ASSUME_ROLE_MS_MAX = 10_000;

/** Connections per region and role. */
export const CONNECTIONS_MAX = 1_024;

/** Clients kept, one for each region and role; beyond it the oldest is made anew when it is needed. */
export const CLIENTS_MAX = 256;
