/** Speaks to each deployment in the HTTP version that it was registered with. */

import type { DeploymentEndpoint } from '@engine/domain';
import type { Clock, Scheduler } from '@engine/runtime';

import type { Exchange, ExchangeListener, ExchangeRequest } from './deployment-transport.js';
import { Http1Transport } from './http1-transport.js';
import { describe } from './http2-session.js';
import { Http2Transport } from './http2-transport.js';

export type HttpEndpoint = Extract<DeploymentEndpoint, { kind: 'http' }>;

export class HttpTransport implements Disposable {
  readonly #http1: Http1Transport;
  readonly #http2: Http2Transport;

  readonly #scheduler: Scheduler;

  constructor(clock: Clock, scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#http1 = new Http1Transport(scheduler);
    this.#http2 = new Http2Transport(clock, scheduler);
  }

  open(request: ExchangeRequest, endpoint: HttpEndpoint, listener: ExchangeListener): Exchange {
    try {
      const transport = endpoint.httpVersion === 'HTTP/1.1' ? this.#http1 : this.#http2;
      return transport.open(request, endpoint.uri, listener);
    } catch (error) {
      // A header or address that the platform refuses: the same as a deployment that cannot be reached.
      const message = error instanceof Error ? describe(error) : String(error);
      return new FailedExchange(this.#scheduler, listener, message);
    }
  }

  /** Breaks every connection. */
  [Symbol.dispose](): void {
    this.#http1.close();
    this.#http2.close();
  }
}

/** Says in a moment that it failed. */
class FailedExchange implements Exchange {
  #listener: ExchangeListener | undefined;

  constructor(scheduler: Scheduler, listener: ExchangeListener, message: string) {
    this.#listener = listener;
    scheduler.immediate(() => {
      this.#listener?.onError(message);
    });
  }

  reset(): void {
    this.#listener = undefined;
  }

  write(): void {
    // Nobody listens.
  }

  closeRequest(): void {
    // Nobody listens.
  }

  pause(): void {
    // Nothing flows.
  }

  resume(): void {
    // Nothing flows.
  }
}
