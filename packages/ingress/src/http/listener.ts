/**
 * One port for HTTP/1 and for HTTP/2 with prior knowledge: the first bytes of a connection decide. An `Upgrade: h2c` is
 * ignored. Requests may last as long as an invocation does, so nothing here runs out but the stop.
 */

import { createServer, type Server } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { EngineError } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import type { IngressConfig } from '../config-shape.js';
import { connectionCreated } from '../events.js';
import {
  HEADER_BLOCK_BYTES_MAX,
  HTTP2_HEADER_BLOCK_BYTES_MAX,
  HTTP2_SESSION_MEGABYTES_MAX,
  HTTP2_WINDOW_BYTES,
} from '../limits.js';
import { log } from '../logger.js';
import { BodyBudget } from './body-budget.js';
import type { ConnectionState, HttpRequest, HttpResponse } from './exchange.js';
import { escapeRequestLine, readPreface, type HttpVersion } from './preface.js';

export type OnRequest = (request: HttpRequest, response: HttpResponse) => void;

type OnConnection = (this: Server, socket: Socket) => void;
type OnClose = (...args: unknown[]) => void;

const ANY_IPV6 = '::';
const ANY_IPV4 = '0.0.0.0';
const NO_IPV6 = new Set<unknown>(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

export class Listener {
  readonly state: ConnectionState;
  readonly #config: IngressConfig;
  readonly #http1: Server;
  readonly #http2: Http2Server;
  readonly #http1Listeners: readonly OnConnection[];
  readonly #sockets = new Set<Socket>();
  /** Connections that have not said yet what they speak. */
  readonly #silent = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /** What the HTTP/1 server does when a connection is closed: it ends the requests that wait on it. */
  readonly #onClose = new WeakMap<Duplex, readonly OnClose[]>();

  constructor(config: IngressConfig, onRequest: OnRequest) {
    this.#config = config;
    this.state = { isStopping: false, bodies: new BodyBudget(config.bodiesInFlightBytesMax) };
    this.#http1 = createHttp1(onRequest);
    this.#http2 = createHttp2(config, onRequest);
    this.#http2.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    // The HTTP/1 server owns the port; its own connection listeners get only what turns out to speak HTTP/1.
    this.#http1Listeners = this.#http1.listeners('connection') as OnConnection[];
    this.#http1.removeAllListeners('connection');
    this.#http1.on('connection', (socket: Socket) => {
      this.#accept(socket);
    });
    this.#http1.on('connect', (_request, socket) => {
      this.#refuseTunnel(socket);
    });
  }

  /** The port in use, once it listens. */
  get port(): number {
    return (this.#http1.address() as AddressInfo).port;
  }

  /** Errors: RT0004 when the address cannot be bound. */
  async listen(): Promise<void> {
    const { bindIp, bindPort } = this.#config;
    try {
      await listenOn(this.#http1, bindIp, bindPort);
    } catch (error) {
      if (bindIp !== ANY_IPV6 || !NO_IPV6.has(codeOf(error)))
        throw bindError(error, { ip: bindIp, port: bindPort });
      await listenOn(this.#http1, ANY_IPV4, bindPort).catch((second: unknown) => {
        throw bindError(second, { ip: ANY_IPV4, port: bindPort });
      });
    }
  }

  /** Takes no more connections, ends idle ones, and cuts those that are still busy after `stopGraceMs`. */
  async stop(scheduler: Scheduler): Promise<void> {
    this.state.isStopping = true;
    const closed = new Promise<void>((resolve) => {
      this.#http1.close(() => {
        resolve();
      });
    });
    for (const session of this.#sessions) session.close();
    for (const socket of this.#silent) socket.destroy();
    const cut = scheduler.after(this.#config.stopGraceMs, () => {
      if (this.#sockets.size > 0)
        log.info({ connections: this.#sockets.size }, 'cutting connections');
      for (const socket of this.#sockets) socket.destroy();
    });
    await closed;
    cut.cancel();
  }

  #accept(socket: Socket): void {
    connectionCreated();
    this.#sockets.add(socket);
    this.#silent.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#silent.delete(socket);
    });
    socket.on('error', ignore);
    // Sockets of the HTTP/1 server outlive the end of their client's side, which that server minds by itself, and only that one.
    socket.allowHalfOpen = false;
    readPreface(socket, (version, bytes) => {
      this.#silent.delete(socket);
      this.#handOver(socket, version, bytes);
    });
  }

  #handOver(socket: Socket, version: HttpVersion, bytes: Buffer): void {
    if (version === 2) {
      socket.unshift(bytes);
      this.#http2.emit('connection', socket);
      return;
    }
    socket.allowHalfOpen = true;
    socket.unshift(escapeRequestLine(bytes));
    const before = socket.listeners('close');
    for (const listener of this.#http1Listeners) listener.call(this.#http1, socket);
    const added = socket.listeners('close').filter((listener) => !before.includes(listener));
    this.#onClose.set(socket, added as OnClose[]);
    socket.resume();
  }

  /** The HTTP/1 server lets go of the connection of a CONNECT, and with it of requests before that one; here it is held to them. */
  #refuseTunnel(socket: Duplex): void {
    for (const onClose of this.#onClose.get(socket) ?? []) {
      socket.off('close', onClose);
      socket.on('close', onClose);
    }
    refuseMalformed(socket, '400 Bad Request');
    // What its client still says has no reader; unread, it would keep the connection from closing.
    socket.resume();
  }
}

function createHttp1(onRequest: OnRequest): Server {
  const server = createServer(
    {
      requireHostHeader: false,
      maxHeaderSize: HEADER_BLOCK_BYTES_MAX,
      keepAliveTimeout: 0,
      requestTimeout: 0,
      headersTimeout: 0,
      keepAlive: true,
    },
    onRequest,
  );
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error: Error, socket) => {
    refuseMalformed(
      socket,
      codeOf(error) === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : '400 Bad Request',
    );
  });
  return server;
}

function createHttp2(config: IngressConfig, onRequest: OnRequest): Http2Server {
  const server = createHttp2Server(
    {
      maxSessionMemory: HTTP2_SESSION_MEGABYTES_MAX,
      settings: {
        maxConcurrentStreams: config.http2StreamsMax,
        initialWindowSize: HTTP2_WINDOW_BYTES,
        maxHeaderListSize: HTTP2_HEADER_BLOCK_BYTES_MAX,
      },
    },
    onRequest,
  );
  server.on('sessionError', (err) => {
    log.debug({ err }, 'HTTP/2 session failed');
  });
  return server;
}

function refuseMalformed(socket: Duplex, status: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function bindError(cause: unknown, address: { readonly ip: string; readonly port: number }): Error {
  const { ip, port } = address;
  const reason = cause instanceof Error ? cause.message : String(codeOf(cause));
  const host = ip.includes(':') ? `[${ip}]` : ip;
  const message = `the ingress cannot bind to ${host}:${String(port)}: ${reason}`;
  return new EngineError('RT0004', message, { cause, details: { address: ip, port } });
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function ignore(): void {
  // A connection that breaks ends its requests by itself; without a listener it would end the process.
}
