/** Settings of the ingress, checked and complete. The server's configuration (section `[ingress]`) fills them in. */

import { limits } from '@engine/domain';
import {
  BODIES_IN_FLIGHT_BYTES_MAX,
  CONCURRENT_REQUESTS_MAX,
  HTTP2_STREAMS_MAX,
  STOP_GRACE_MS,
} from './limits.js';

export interface IngressConfig {
  /** Address to listen on. `::` takes IPv4 too and falls back to `0.0.0.0` on machines without IPv6. */
  readonly bindIp: string;
  /** 0 = any free port. */
  readonly bindPort: number;
  /** Largest request body in bytes. */
  readonly requestBytesMax: number;
  /** Bytes of the bodies of requests in progress, in all. */
  readonly bodiesInFlightBytesMax: number;
  /** Requests in progress at once. */
  readonly concurrentRequestsMax: number;
  /** Streams per HTTP/2 connection. */
  readonly http2StreamsMax: number;
  /** Time that open requests get when the process stops, in ms. */
  readonly stopGraceMs: number;
}

export const DEFAULT_INGRESS_CONFIG: IngressConfig = {
  bindIp: '::',
  bindPort: 8080,
  requestBytesMax: limits.MESSAGE_SIZE_BYTES_MAX,
  bodiesInFlightBytesMax: BODIES_IN_FLIGHT_BYTES_MAX,
  concurrentRequestsMax: CONCURRENT_REQUESTS_MAX,
  http2StreamsMax: HTTP2_STREAMS_MAX,
  stopGraceMs: STOP_GRACE_MS,
};
