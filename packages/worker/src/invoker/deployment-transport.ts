/**
 * Port to deployments: one exchange is one request with a streamed body and a streamed response. Adapters: HTTP/2, HTTP/1.1,
 * functions (which stream nothing); the simulator has its own. An exchange reports through callbacks on the thread of the
 * partition, never inside `open`.
 */

import type { Deployment } from '@engine/domain';

export interface ExchangeRequest {
  readonly deployment: Deployment;
  /** Path below the deployment's own, for example `/invoke/Greeter/greet`. */
  readonly path: string;
  /** Key of the object or workflow, as people wrote it. */
  readonly serviceKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ExchangeListener {
  /** Header names are lower case. */
  onHead(status: number, headers: Readonly<Record<string, string | undefined>>): void;
  /** The chunk belongs to the listener from now on. */
  onData(chunk: Uint8Array): void;
  /** The response ended in good order. Nothing follows. */
  onEnd(): void;
  /** The connection could not be made or broke. Nothing follows. */
  onError(message: string): void;
}

export interface Exchange {
  write(bytes: Uint8Array): void;
  /** Ends the request body. */
  closeRequest(): void;
  /** Abandons the exchange: no callback follows. */
  reset(): void;
  /** Stops and restarts reading of the response, as back-pressure. */
  pause(): void;
  resume(): void;
}

export interface DeploymentTransport {
  open(request: ExchangeRequest, listener: ExchangeListener): Exchange;
}
