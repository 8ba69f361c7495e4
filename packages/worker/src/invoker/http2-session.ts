/**
 * One HTTP/2 connection to an endpoint. It watches itself: connect timeout, keep-alive pings, idle close, all on one timer.
 * A session that is retired takes no new streams and closes when its last one ends.
 */

import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Settings,
} from 'node:http2';

import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

/** A deployment must be reachable in this time. */
const CONNECT_MS_MAX = 10_000;
/** Between looks at the connection: a ping goes out when it is in use. */
const KEEP_ALIVE_MS = 40_000;
/** A ping must come back in this time. */
const PING_ANSWER_MS_MAX = 20_000;
/** A connection without streams is closed after this time. */
const IDLE_MS_MAX = 5 * 60_000;
/** Receive windows of a stream and of the connection. */
const STREAM_WINDOW_BYTES = 2 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 5 * 1024 * 1024;
/** Streams on one connection, if the peer allows that many; beyond it another connection is opened. */
const STREAMS_MAX = 512;
/** Megabytes that the streams of one connection may hold in memory. */
const SESSION_MEMORY_MB_MAX = 1_024;

export interface SessionDependencies {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** The session takes no more streams. */
  readonly onRetired: (session: Http2Session) => void;
}

export class Http2Session {
  readonly #dependencies: SessionDependencies;
  readonly #session: ClientHttp2Session;
  #streamsMax = STREAMS_MAX;
  #streamCount = 0;
  #idleSince: number;
  #isRetired = false;
  #isConnected = false;
  #timer: Cancellable;
  /** Why the connection broke, for the streams that break with it. */
  #failure: string | undefined;

  constructor(origin: string, dependencies: SessionDependencies) {
    this.#dependencies = dependencies;
    this.#idleSince = dependencies.clock.monotonic();
    this.#session = connect(origin, {
      maxSessionMemory: SESSION_MEMORY_MB_MAX,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.#timer = dependencies.scheduler.after(CONNECT_MS_MAX, this.#onConnectTimeout);
    this.#listen();
  }

  /** True when another stream fits. */
  get hasRoom(): boolean {
    const isOpen = !this.#isRetired && !this.#session.closed && !this.#session.destroyed;
    return isOpen && this.#streamCount < this.#streamsMax;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  /** Opens a stream. Call `leave` when it is closed. */
  request(headers: Readonly<Record<string, string>>): ClientHttp2Stream {
    const stream = this.#session.request(headers, { endStream: false });
    this.#streamCount += 1;
    return stream;
  }

  leave(): void {
    this.#streamCount -= 1;
    if (this.#streamCount > 0) return;
    this.#idleSince = this.#dependencies.clock.monotonic();
    if (this.#isRetired) this.#session.close();
  }

  /** Breaks the connection with all its streams. */
  destroy(): void {
    this.#retire();
    this.#session.destroy();
  }

  #listen(): void {
    const session = this.#session;
    session.on('connect', () => {
      this.#isConnected = true;
      session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      this.#timer.cancel();
      if (!this.#isRetired) this.#watch();
    });
    session.on('remoteSettings', (settings: Settings) => {
      this.#streamsMax = Math.min(STREAMS_MAX, settings.maxConcurrentStreams ?? STREAMS_MAX);
    });
    session.on('goaway', () => {
      this.#retire();
      if (this.#streamCount === 0) session.close();
    });
    session.on('error', (error: Error) => {
      this.#failure ??= describe(error);
      this.#retire();
    });
    session.on('close', () => {
      this.#retire();
    });
  }

  readonly #onConnectTimeout = (): void => {
    if (!this.#isConnected) this.#break(`no connection within ${String(CONNECT_MS_MAX)} ms`);
  };

  #watch(): void {
    this.#timer = this.#dependencies.scheduler.after(KEEP_ALIVE_MS, this.#look);
  }

  readonly #look = (): void => {
    if (this.#isRetired) return;
    if (this.#streamCount > 0) {
      this.#ping();
      return;
    }
    const idleMs = this.#dependencies.clock.monotonic() - this.#idleSince;
    if (idleMs < IDLE_MS_MAX) {
      this.#watch();
      return;
    }
    this.#retire();
    this.#session.close();
  };

  #ping(): void {
    const timeout = this.#dependencies.scheduler.after(PING_ANSWER_MS_MAX, () => {
      this.#break(`no answer to a ping within ${String(PING_ANSWER_MS_MAX)} ms`);
    });
    this.#timer = timeout;
    this.#session.ping((error) => {
      timeout.cancel();
      if (error === null && !this.#isRetired) this.#watch();
    });
  }

  #break(reason: string): void {
    this.#failure ??= reason;
    this.#retire();
    this.#session.destroy(new Error(reason), constants.NGHTTP2_CANCEL);
  }

  #retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#timer.cancel();
    this.#dependencies.onRetired(this);
  }
}

/** Text of a connection error for people: an error with several causes has no message of its own. */
export function describe(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (error.message !== '') return error.message;
  return code ?? error.name;
}
