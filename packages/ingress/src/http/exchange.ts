/**
 * One request and its one answer, the same over HTTP/1 and HTTP/2. Answers are whole: a length is always known, nothing is
 * streamed. Header fields travel as flat lists of names and values, the cheapest form the platform takes.
 */

import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { SentRequest } from '@engine/wire';
import { parseRequestTarget } from '../path-text.js';
import type { BodyBudget } from './body-budget.js';
import { isVisibleAscii, readHead, type RequestHead } from './request-head.js';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** Fields of an answer: name, value, name, value… Names are lower case. */
export type HeaderList = string[];

/** Shared by all exchanges of a listener. */
export interface ConnectionState {
  /** From now on every HTTP/1 connection ends with its next answer. */
  isStopping: boolean;
  readonly bodies: BodyBudget;
}

const VARY = 'origin, access-control-request-method, access-control-request-headers';
const STATUS_MAX_HTTP2 = 599;
const NO_BODY = new Set([204, 304]);

export class Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly path: string;
  readonly query: string | undefined;
  readonly head: RequestHead;
  readonly #state: ConnectionState;
  /** What was asked of a partition for this exchange; called back when the client leaves before the answer. */
  asked: SentRequest | undefined;
  /** Claimed of the memory for bodies. */
  #bodyBytes = 0;

  constructor(request: HttpRequest, response: HttpResponse, state: ConnectionState) {
    const { path, query } = parseRequestTarget(request.url ?? '/');
    this.request = request;
    this.response = response;
    this.path = path;
    this.query = query;
    this.head = readHead(request.rawHeaders, query === undefined ? path : `${path}?${query}`);
    this.#state = state;
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  /** By what reads the connection, not by the version in the request: a line of HTTP/1 may claim any. */
  get isHttp2(): boolean {
    return 'stream' in this.request;
  }

  /** True when an answer was given or nobody is there to read one. */
  get isOver(): boolean {
    return this.response.headersSent || this.response.destroyed || this.response.writableEnded;
  }

  /** True when the client has gone away; responses of HTTP/2 do not say it themselves. */
  get #isGone(): boolean {
    const { request, response } = this;
    return 'stream' in request ? request.stream.destroyed : response.destroyed;
  }

  /** Asks for memory for more of the body; given back when the response has closed. False when there is none. */
  claimBody(bytes: number): boolean {
    const { bodies } = this.#state;
    // Nobody would say that it has closed.
    if (this.#isGone || !bodies.take(bytes, this.#bodyBytes)) return false;
    if (this.#bodyBytes === 0) {
      this.response.on('close', () => {
        bodies.give(this.#bodyBytes);
      });
    }
    this.#bodyBytes += bytes;
    return true;
  }

  /** A new list that starts with what every routed answer carries. */
  headers(): HeaderList {
    const { origin } = this.head;
    const list: HeaderList = ['vary', VARY, 'access-control-allow-credentials', 'true'];
    if (origin !== undefined && isVisibleAscii(origin))
      list.push('access-control-allow-origin', origin);
    return list;
  }

  /** Answers once; later answers and answers to clients that went away are dropped. `headers` becomes the callee's. */
  respond(status: number, headers: HeaderList, body: Uint8Array | string = ''): void {
    if (this.isOver) return;
    if (!NO_BODY.has(status)) {
      const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
      headers.push('content-length', String(bytes));
    }
    const { response } = this;
    if ('stream' in response) {
      response.writeHead(status > STATUS_MAX_HTTP2 ? 500 : status, headers);
      // What is left of the body has no reader; HTTP/1 throws it away by itself.
      this.request.resume();
    } else {
      if (this.#state.isStopping) headers.push('connection', 'close');
      response.writeHead(status, STATUS_CODES[status] ?? '<none>', headers);
    }
    if (NO_BODY.has(status) || body.length === 0) response.end();
    else response.end(body);
  }

  /** A refusal below the routes: no common headers, and the connection ends. */
  respondBare(status: number): void {
    this.respond(status, this.isHttp2 ? [] : ['connection', 'close']);
  }
}
