/** One port for HTTP/1.1 and for HTTP/2 with prior knowledge: the first bytes of a connection decide. */

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { EngineError } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import { SILENCE_MS_MAX, STOP_GRACE_MS } from '../limits.js';
import { log } from '../logger.js';
import type { Http2Listener } from './on-http2.js';

export interface ListenerOptions {
  readonly bindIp: string;
  /** 0 = any free port. */
  readonly bindPort: number;
}

/** What answers requests; each gets the messages of its version. */
export interface RequestListeners {
  readonly http1: RequestListener;
  readonly http2: Http2Listener;
}

type OnConnection = (this: Server, socket: Socket) => void;

const NO_IPV6 = new Set<string | undefined>(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0');

/** The port of the admin. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #http2: Http2Server;
  readonly #onHttp1: readonly OnConnection[];
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #sockets = new Set<Socket>();
  /** Connections that have not said yet what they speak. */
  readonly #silent = new Set<Socket>();

  constructor(options: ListenerOptions, onRequest: RequestListeners) {
    this.#options = options;
    this.#http2 = createHttp2Server(onRequest.http2);
    this.#http2.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    this.#http2.on('sessionError', (err) => {
      log.debug({ err }, 'HTTP/2 session failed');
    });
    // The HTTP/1 server owns the port; its own connection listeners get only what turns out to speak HTTP/1.
    this.#server = createServer(onRequest.http1);
    this.#onHttp1 = this.#server.listeners('connection') as OnConnection[];
    this.#server.removeAllListeners('connection');
    this.#server.on('connection', (socket: Socket) => {
      this.#accept(socket);
    });
  }

  /** The port in use; 0 while not listening. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** Errors: RT0004 when the address cannot be bound. */
  async listen(): Promise<void> {
    const { bindIp, bindPort } = this.#options;
    try {
      await this.#bind(bindIp);
    } catch (error) {
      if (bindIp !== '::' || !NO_IPV6.has(codeOf(error)))
        throw bindError(`${bindIp}:${String(bindPort)}`, error);
      await this.#bind('0.0.0.0').catch((second: unknown) => {
        throw bindError(`0.0.0.0:${String(bindPort)}`, second);
      });
    }
  }

  /** Stops listening; requests in progress get a moment, then their connections are cut. */
  async stop(scheduler: Scheduler): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    for (const session of this.#sessions) session.close();
    for (const socket of this.#silent) socket.destroy();
    const limit = scheduler.after(STOP_GRACE_MS, () => {
      for (const socket of this.#sockets) socket.destroy();
    });
    await closed;
    limit.cancel();
  }

  async #bind(host: string): Promise<void> {
    const listening = once(this.#server, 'listening');
    this.#server.listen({ host, port: this.#options.bindPort });
    await listening;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    this.#silent.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#silent.delete(socket);
    });
    // A connection that breaks ends its requests by itself; without a listener it would end the process.
    socket.on('error', () => undefined);
    readPreface(socket, (isHttp2, bytes) => {
      this.#silent.delete(socket);
      socket.unshift(bytes);
      if (isHttp2) {
        socket.allowHalfOpen = false;
        this.#http2.emit('connection', socket);
        return;
      }
      for (const listener of this.#onHttp1) listener.call(this.#server, socket);
      socket.resume();
    });
  }
}

/** Calls `onKnown` once, as soon as the bytes decide, with everything read so far. The socket is then paused. */
function readPreface(socket: Socket, onKnown: (isHttp2: boolean, bytes: Buffer) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  // The client leaves, or says nothing for long; the socket would stay half open.
  const giveUp = (): void => {
    socket.destroy();
  };
  const onData = (chunk: Buffer): void => {
    bytes = Buffer.concat([bytes, chunk]);
    const length = Math.min(bytes.length, HTTP2_PREFACE.length);
    const isPreface = bytes.compare(HTTP2_PREFACE, 0, length, 0, length) === 0;
    if (isPreface && length < HTTP2_PREFACE.length) return;
    socket.off('data', onData);
    socket.off('end', giveUp);
    socket.off('timeout', giveUp);
    socket.setTimeout(0);
    socket.pause();
    onKnown(isPreface, bytes);
  };
  socket.on('data', onData);
  socket.on('end', giveUp);
  socket.setTimeout(SILENCE_MS_MAX, giveUp);
}

function bindError(address: string, cause: unknown): EngineError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `the admin cannot bind to ${address}: ${reason}`;
  return new EngineError('RT0004', message, { cause, details: { address } });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
