/** Exchanges over HTTP/1.1: one connection at a time per exchange, kept alive in between; bodies are chunked both ways. */

import { Agent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';

import type { Scheduler } from '@engine/runtime';

import type { Exchange, ExchangeListener, ExchangeRequest } from './deployment-transport.js';
import { endpointHeaders, EndpointPaths } from './endpoint-paths.js';
import { describe } from './http2-session.js';

/** A deployment must be reachable in this time. */
const CONNECT_MS_MAX = 10_000;
/** Idle connections kept per endpoint. */
const IDLE_SOCKETS_MAX = 256;

export class Http1Transport {
  readonly #scheduler: Scheduler;
  readonly #paths = new EndpointPaths();
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX });
  readonly #tlsAgent = new TlsAgent({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX });

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** `uri`: where the deployment listens. */
  open(request: ExchangeRequest, uri: string, listener: ExchangeListener): Exchange {
    const endpoint = this.#paths.of(uri);
    const headers = endpointHeaders(endpoint, request.headers);
    const options = { method: 'POST', path: endpoint.join(request.path), headers };
    const outgoing = endpoint.origin.startsWith('https:')
      ? requestHttps(endpoint.origin, { ...options, agent: this.#tlsAgent })
      : requestHttp(endpoint.origin, { ...options, agent: this.#agent });
    return new Http1Exchange(outgoing, listener, this.#scheduler);
  }

  /** Closes the connections that are idle; those in use end with their exchanges. */
  close(): void {
    this.#agent.destroy();
    this.#tlsAgent.destroy();
  }
}

class Http1Exchange implements Exchange {
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;
  /** Undefined once the exchange has ended, failed or been reset: nothing is reported any more. */
  #listener: ExchangeListener | undefined;
  #isPaused = false;

  constructor(request: ClientRequest, listener: ExchangeListener, scheduler: Scheduler) {
    this.#request = request;
    this.#listener = listener;
    request.setNoDelay(true);
    request.flushHeaders();
    request.on('socket', (socket) => {
      this.#watchConnect(socket, scheduler);
    });
    request.on('response', (response) => {
      this.#onResponse(response);
    });
    request.on('error', (error) => {
      this.#fail(describe(error));
    });
    request.on('close', () => {
      this.#fail('the connection was closed');
    });
  }

  write(bytes: Uint8Array): void {
    if (this.#request.writable) this.#request.write(bytes);
  }

  closeRequest(): void {
    if (this.#request.writable) this.#request.end();
  }

  reset(): void {
    this.#listener = undefined;
    this.#request.destroy();
  }

  pause(): void {
    this.#isPaused = true;
    this.#response?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#response?.resume();
  }

  #watchConnect(socket: Socket, scheduler: Scheduler): void {
    if (!socket.connecting) return;
    const timeout = scheduler.after(CONNECT_MS_MAX, () => {
      if (socket.connecting) {
        this.#request.destroy(new Error(`no connection within ${String(CONNECT_MS_MAX)} ms`));
      }
    });
    const stop = (): void => {
      timeout.cancel();
    };
    socket.once('connect', stop);
    socket.once('close', stop);
  }

  #onResponse(response: IncomingMessage): void {
    this.#response = response;
    const headers = response.headers as Readonly<Record<string, string | undefined>>;
    response.on('data', (chunk: Uint8Array) => {
      this.#listener?.onData(chunk);
    });
    response.on('end', () => {
      const listener = this.#listener;
      this.#listener = undefined;
      if (response.complete) listener?.onEnd();
      else listener?.onError('the response was cut off');
      // A connection whose request nobody reads to its end cannot be used again.
      if (!this.#request.writableFinished) this.#request.destroy();
    });
    response.on('error', (error) => {
      this.#fail(describe(error));
    });
    if (this.#isPaused) response.pause();
    this.#listener?.onHead(response.statusCode ?? 0, headers);
  }

  #fail(message: string): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.onError(message);
  }
}
