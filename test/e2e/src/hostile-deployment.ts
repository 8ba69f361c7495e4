/** A deployment that answers discovery in good order and each handler in its own bad way. */

import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';

/** Answers one attempt. The request is not read unless the answer does it. */
export type Answer = (attempt: AttemptStream) => void;

/** No second attempt within a test. */
const NO_RETRY_MS = 3_600_000;

export const MANIFEST_TYPE = 'application/vnd.restate.endpointmanifest.v4+json';

/** The stream of one attempt, as the deployment sees it. */
export class AttemptStream {
  readonly stream: ServerHttp2Stream;
  /** What a right answer has as content type. */
  readonly contentType: string;

  constructor(stream: ServerHttp2Stream, contentType: string) {
    this.stream = stream;
    this.contentType = contentType;
    // A client that gives up is not a failure of the test.
    stream.on('error', () => undefined);
    stream.resume();
  }

  /** A right head. */
  accept(headers: Readonly<Record<string, string>> = {}): this {
    this.stream.respond({ ':status': 200, 'content-type': this.contentType, ...headers });
    return this;
  }

  /** A head and the end of the response. */
  refuse(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.stream.respond({ ':status': status, ...headers }, { endStream: true });
  }

  /** A right head, then these frames; the response stays open. */
  say(...frames: readonly Buffer[]): this {
    if (!this.stream.headersSent) this.accept();
    if (frames.length > 0) this.stream.write(Buffer.concat(frames));
    return this;
  }

  /** Ends the response. */
  close(): void {
    this.stream.end();
  }
}

/** Read again for every discovery. */
export interface HostileOptions {
  readonly service: string;
  readonly protocolVersionMin?: number;
  readonly protocolVersionMax?: number;
  readonly type?: 'SERVICE' | 'VIRTUAL_OBJECT';
  readonly protocolMode?: string;
  /** Wait before the next attempt. */
  readonly retryMs?: number;
  /** Members of the service in the manifest, such as its retry policy. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** Serves one service; each name of `answers` is a handler of it. */
export class HostileDeployment implements AsyncDisposable {
  readonly uri: string;
  readonly #server: Http2Server;
  readonly #sockets = new Set<Socket>();
  /** How often each handler was called. */
  readonly attempts = new Map<string, number>();

  private constructor(server: Http2Server, port: number) {
    this.#server = server;
    this.uri = `http://127.0.0.1:${String(port)}`;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(
    options: HostileOptions,
    answers: Readonly<Record<string, Answer>>,
  ): Promise<HostileDeployment> {
    const server = createServer();
    server.on('sessionError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const deployment = new HostileDeployment(server, (server.address() as AddressInfo).port);
    server.on('stream', (stream, headers) => {
      const path = headers[':path'] ?? '';
      if (path === '/discover') {
        stream.respond({ ':status': 200, 'content-type': MANIFEST_TYPE });
        stream.end(JSON.stringify(manifestOf(options, Object.keys(answers))));
        return;
      }
      const handler = path.split('/').at(-1) ?? '';
      deployment.attempts.set(handler, (deployment.attempts.get(handler) ?? 0) + 1);
      answers[handler]?.(new AttemptStream(stream, String(headers['content-type'])));
    });
    return deployment;
  }

  /** Breaks the connections and listens no more: whoever comes is refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** A listener that takes the place of a deployment that went away and does not speak its language. */
export class StrangeListener implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(uri: string, greet: (socket: Socket) => void): Promise<StrangeListener> {
    const listener = new StrangeListener(createSocketServer());
    listener.#server.on('connection', (socket) => {
      listener.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.resume();
      greet(socket);
    });
    await new Promise<void>((resolve) =>
      listener.#server.listen(Number(new URL(uri).port), '127.0.0.1', resolve),
    );
    return listener;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

export function manifestOf(options: HostileOptions, handlers: readonly string[]): object {
  const retryMs = options.retryMs ?? NO_RETRY_MS;
  return {
    protocolMode: options.protocolMode ?? 'BIDI_STREAM',
    minProtocolVersion: options.protocolVersionMin ?? 5,
    maxProtocolVersion: options.protocolVersionMax ?? 7,
    services: [
      {
        name: options.service,
        ty: options.type ?? 'SERVICE',
        handlers: handlers.map((name) => ({ name })),
        retryPolicyInitialInterval: retryMs,
        retryPolicyMaxInterval: retryMs,
        ...options.settings,
      },
    ],
  };
}
