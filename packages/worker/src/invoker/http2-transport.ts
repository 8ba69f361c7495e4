/** Exchanges over HTTP/2: one connection per endpoint, more when its streams are used up. */

import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';

import type { Clock, Scheduler } from '@engine/runtime';

import type { Exchange, ExchangeListener, ExchangeRequest } from './deployment-transport.js';
import { endpointHeaders, EndpointPaths } from './endpoint-paths.js';
import { describe, Http2Session } from './http2-session.js';

export class Http2Transport {
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #paths = new EndpointPaths();
  readonly #sessions = new Map<string, Http2Session[]>();

  constructor(clock: Clock, scheduler: Scheduler) {
    this.#clock = clock;
    this.#scheduler = scheduler;
  }

  /** `uri`: where the deployment listens. */
  open(request: ExchangeRequest, uri: string, listener: ExchangeListener): Exchange {
    const endpoint = this.#paths.of(uri);
    const session = this.#session(endpoint.origin);
    const headers = {
      ':method': 'POST',
      ':path': endpoint.join(request.path),
      ...endpointHeaders(endpoint, request.headers),
    };
    return new Http2Exchange(session, session.request(headers), listener);
  }

  /** Breaks every connection. */
  close(): void {
    const sessions = [...this.#sessions.values()].flat();
    this.#sessions.clear();
    for (const session of sessions) session.destroy();
  }

  #session(origin: string): Http2Session {
    let sessions = this.#sessions.get(origin);
    if (sessions === undefined) {
      sessions = [];
      this.#sessions.set(origin, sessions);
    }
    for (const session of sessions) if (session.hasRoom) return session;
    const session = new Http2Session(origin, {
      clock: this.#clock,
      scheduler: this.#scheduler,
      onRetired: (retired) => {
        this.#forget(origin, retired);
      },
    });
    sessions.push(session);
    return session;
  }

  #forget(origin: string, retired: Http2Session): void {
    const left = this.#sessions.get(origin)?.filter((session) => session !== retired) ?? [];
    if (left.length === 0) this.#sessions.delete(origin);
    else this.#sessions.set(origin, left);
  }
}

class Http2Exchange implements Exchange {
  readonly #session: Http2Session;
  readonly #stream: ClientHttp2Stream;
  /** Undefined once the exchange has ended, failed or been reset: nothing is reported any more. */
  #listener: ExchangeListener | undefined;
  #failure: string | undefined;

  constructor(session: Http2Session, stream: ClientHttp2Stream, listener: ExchangeListener) {
    this.#session = session;
    this.#stream = stream;
    this.#listener = listener;
    stream.on('response', (headers: IncomingHttpHeaders & { ':status'?: number }) => {
      const flat = headers as Readonly<Record<string, string | undefined>>;
      this.#listener?.onHead(headers[':status'] ?? 0, flat);
    });
    stream.on('data', (chunk: Uint8Array) => {
      this.#listener?.onData(chunk);
    });
    stream.on('end', this.#onEnd);
    stream.on('error', (error: Error) => {
      this.#failure ??= describe(error);
    });
    stream.on('close', this.#onClose);
  }

  write(bytes: Uint8Array): void {
    if (this.#stream.writable) this.#stream.write(bytes);
  }

  closeRequest(): void {
    if (this.#stream.writable) this.#stream.end();
  }

  reset(): void {
    this.#listener = undefined;
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  readonly #onEnd = (): void => {
    // Ended by the peer in good order; a stream that was reset also ends, and then says why when it closes.
    if (this.#stream.rstCode !== constants.NGHTTP2_NO_ERROR || this.#stream.aborted) return;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.onEnd();
    // Nobody reads what we may still want to say.
    if (this.#stream.writableLength > 0) this.#stream.close(constants.NGHTTP2_CANCEL);
    else if (this.#stream.writable) this.#stream.end();
  };

  readonly #onClose = (): void => {
    this.#session.leave();
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener === undefined) return;
    const code = this.#stream.rstCode;
    const reason = this.#session.failure ?? this.#failure;
    listener.onError(reason ?? `the stream was closed with code ${String(code)}`);
  };
}
