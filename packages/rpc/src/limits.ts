/** Limits of the ways between processes. */

import { limits } from '@engine/domain';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Room in one gRPC message for what comes with the largest payload: header fields of up to a megabyte, ids, keys. */
const MESSAGE_ROOM_BYTES = 4 * MIB;

/** Largest gRPC message, both ways, unless configured. */
export const RPC_MESSAGE_BYTES_MAX = limits.MESSAGE_SIZE_BYTES_MAX + MESSAGE_ROOM_BYTES;

/** A batch closes at this weight, so that a big payload delays only itself. */
export const BATCH_BYTES_MAX = MIB;

/** Items of one batch: past a few hundred a longer batch saves nothing and delays its first item. */
export const BATCH_LENGTH_MAX = 512;

/** Bytes handed to a stream that its peer has not taken; the next batch waits until there are fewer. */
export const IN_FLIGHT_BYTES_MAX = 2 * MIB;

/** What waits to be written to one stream. Beyond it requests are refused, messages dropped, and readers of answers cut off. */
export const QUEUE_LENGTH_MAX = 65_536;
export const QUEUE_BYTES_MAX = 64 * MIB;

/** Answers waiting in one stream above this weight: no further requests are read from it. */
export const READ_PAUSE_BYTES = 16 * MIB;

/** Requests of one stream without an answer so far, on both of its ends; more are refused. About 500 bytes each. */
export const UNANSWERED_MAX = 262_144;

/** Flow control window of a stream and of its connection. */
export const WINDOW_BYTES = MIB;

/** A connection without a sign of life for this long is asked for one, and given up when none comes in this time again. */
export const KEEPALIVE_MS = 5_000;

/** Time to connect and to be greeted. */
export const CONNECT_MS_MAX = 5_000;

/** First and longest wait before a connection is tried again, doubled in between, then up to half of it taken off by chance. */
export const RECONNECT_MS_MIN = 50;
export const RECONNECT_MS_MAX = 1_000;

/** Wait after a refusal by a node of another cluster or version: only an operator changes that. */
export const REFUSED_RECONNECT_MS = 5_000;

/** Rows of one page of a scan, and the weight at which a page closes earlier. */
export const SCAN_PAGE_LENGTH_MAX = 256;
export const SCAN_PAGE_BYTES_MAX = MIB;

/** Time for one page. */
export const SCAN_PAGE_MS_MAX = 10_000;

/** Longest wait of a scan for the leader of a partition: queries have a minute, and their askers about ten seconds. */
export const SCAN_LEADER_WAIT_MS_MAX = 30_000;

/** Time for one question to a node about its partitions. */
export const NODE_CALL_MS_MAX = 5_000;

/** Time for a node to stop leading; who waits for it asks again. */
export const STOP_LEADING_MS_MAX = 30_000;

/** Requests that a router has taken and not answered; more are refused. */
export const ROUTED_MAX = 262_144;

/** First and longest wait before requests go again to a worker that says it does not lead; doubled in between. */
export const RETRY_MS_MIN = 25;
export const RETRY_MS_MAX = 1_000;

/** How often parked requests are looked through for those that waited too long. */
export const PARK_SWEEP_MS = 250;

/** Longest time for which a request is sent again after its way broke: its end stays known for a minute longer. */
export const RESEND_WINDOW_MS_MAX = limits.END_GRACE_MS - 60_000;

/** A request that was with its leader for this long was not answered because it had not ended: its wait starts anew. */
export const SETTLED_MS = 15_000;

/** Time that open calls get when a server stops. */
export const STOP_GRACE_MS = 2_000;

/** The first bytes of a connection, which tell TLS from plain text, have to come in this time. */
export const FIRST_BYTE_MS_MAX = 5_000;
