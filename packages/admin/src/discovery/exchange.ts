/** One request to an endpoint, whatever the transport. */

import type { HttpVersion } from '@engine/domain';

export interface EndpointRequest {
  /** Sent with POST; without one it is a GET. */
  readonly body?: Uint8Array;
  /** Scheme, host and port. */
  readonly origin: URL;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  /** The `x-restate-server` header. */
  readonly server: string | undefined;
  readonly body: Uint8Array;
  /** False for transports that answer only after the whole request. */
  readonly canStreamBothWays: boolean;
}

/** An answer over HTTP. */
export interface EndpointResponse extends EndpointAnswer {
  readonly httpVersion: HttpVersion;
}

/**
 * Why there is no answer. `unreachable`: nobody there, or the connection broke; may pass. `speaks-http1`: the peer does not
 * speak HTTP/2. `unusable`: will not pass by itself.
 */
export type ExchangeFault = 'unreachable' | 'speaks-http1' | 'unusable';

export class ExchangeError extends Error {
  readonly fault: ExchangeFault;

  constructor(fault: ExchangeFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
  }
}

/** What a failed request means: the time was up, or the connection broke. */
export function exchangeError(error: unknown, signal: AbortSignal): ExchangeError {
  if (signal.aborted) return new ExchangeError('unusable', 'no answer in time', error);
  const message = error instanceof Error ? error.message : String(error);
  return new ExchangeError('unreachable', message, error);
}
