/** Makes connections to other nodes, all with the same limits and credentials. */

import { Client, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js';

import { hearGrpc } from '../events.js';
import { KEEPALIVE_MS, RECONNECT_MS_MAX, RECONNECT_MS_MIN, WINDOW_BYTES } from '../limits.js';

export interface DialerOptions {
  /** Largest message, both ways. */
  readonly messageBytesMax: number;
  /** Silence after which the other end is asked for a sign of life, and again the time that it gets; KEEPALIVE_MS unless set. */
  readonly keepaliveMs?: number | undefined;
}

export class Dialer {
  readonly #credentials: () => ChannelCredentials;
  readonly #options: ChannelOptions;

  /** `credentials` are asked for anew with each connection, so that renewed certificates come into use. */
  constructor(options: DialerOptions, credentials: () => ChannelCredentials) {
    hearGrpc();
    this.#credentials = credentials;
    this.#options = channelOptions(options);
  }

  /** `address`: `host:port`. The caller closes the client. Nothing is sent before its first call. */
  dial(address: string): Client {
    return new Client(address, this.#credentials(), this.#options);
  }
}

/** For both ends. */
export function channelOptions({
  messageBytesMax,
  keepaliveMs = KEEPALIVE_MS,
}: DialerOptions): ChannelOptions {
  return {
    'grpc.max_send_message_length': messageBytesMax,
    'grpc.max_receive_message_length': messageBytesMax,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': RECONNECT_MS_MIN,
    'grpc.max_reconnect_backoff_ms': RECONNECT_MS_MAX,
    // A connection of its own for each client, and no second try in secret: gRPC's buffer for those would hide a slow peer.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.per_rpc_retry_buffer_size': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_channelz': 0,
    'grpc-node.flow_control_window': WINDOW_BYTES,
  };
}
