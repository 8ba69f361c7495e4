import { once } from 'node:events';
import { createServer as createHttp1, type Server as Http1Server } from 'node:http';
import { createServer as createHttp2, type Http2Server } from 'node:http2';
import { createServer as createTcp, type AddressInfo, type Server as TcpServer } from 'node:net';

export type Transport = 'h2' | 'h1' | 'http/1.0';

/** How a fake deployment answers discovery. */
export interface FakeAnswer {
  /** Members of the manifest that differ from a plain one. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly body?: string;
  readonly status?: number;
  /** The empty text: no content type. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body never ends. Not over HTTP/1.0. */
  readonly stalls?: boolean;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

const CONTENT_TYPE = 'application/vnd.restate.endpointmanifest.v4+json';

/** An endpoint that answers every request as it is told, and remembers what it was asked. */
export class FakeEndpoint implements AsyncDisposable {
  answer: FakeAnswer | ((request: SeenRequest) => FakeAnswer) = {};
  readonly requests: SeenRequest[] = [];
  readonly #server: Http1Server | Http2Server | TcpServer;
  readonly #sessions = new Set<{ destroy(): void }>();

  private constructor(transport: Transport) {
    this.#server = this.#createServer(transport);
    this.#server.on('error', () => undefined);
    this.#server.on('session', (session: { destroy(): void }) => this.#sessions.add(session));
    this.#server.on('connection', (socket: { destroy(): void }) => this.#sessions.add(socket));
    this.#server.on('sessionError', () => undefined);
  }

  static async start(
    transport: Transport,
    answer: FakeEndpoint['answer'] = {},
  ): Promise<FakeEndpoint> {
    const endpoint = new FakeEndpoint(transport);
    endpoint.answer = answer;
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  get uri(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  #createServer(transport: Transport): Http1Server | Http2Server | TcpServer {
    switch (transport) {
      case 'h1':
        return createHttp1((request, response) => {
          const { status, headers, body, stalls } = this.#reply(request);
          response.writeHead(status, headers).write(body);
          if (!stalls) response.end();
        });
      case 'h2':
        return createHttp2((request, response) => {
          const { status, headers, body, stalls } = this.#reply(request);
          response.writeHead(status, headers).write(body);
          if (!stalls) response.end();
        });
      case 'http/1.0':
        return createTcp((socket) => {
          socket.on('error', () => undefined);
          socket.once('data', (data) => {
            const [method = '', url = ''] = data.toString().split(' ');
            const { status, headers, body } = this.#reply({ method, url, headers: {} });
            const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
            socket.end(`HTTP/1.0 ${String(status)} Fake\r\n${lines.join('')}\r\n${body}`);
          });
        });
    }
  }

  #reply(request: {
    readonly method?: string | undefined;
    readonly url?: string | undefined;
    readonly headers: object;
  }): { status: number; headers: Record<string, string>; body: string; stalls: boolean } {
    const seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: { ...request.headers },
    };
    this.requests.push(seen);
    const answer = typeof this.answer === 'function' ? this.answer(seen) : this.answer;
    const contentType = answer.contentType ?? CONTENT_TYPE;
    return {
      status: answer.status ?? 200,
      headers: {
        ...(contentType === '' ? {} : { 'content-type': contentType }),
        ...answer.headers,
      },
      body: answer.body ?? JSON.stringify(manifest(answer.manifest)),
      stalls: answer.stalls ?? false,
    };
  }
}

function manifest(changes: FakeAnswer['manifest']): object {
  return {
    protocolMode: 'BIDI_STREAM',
    minProtocolVersion: 5,
    maxProtocolVersion: 7,
    services: [],
    ...changes,
  };
}

/** A service of a manifest. */
export function service(name: string, more: Readonly<Record<string, unknown>> = {}): object {
  return { name, ty: 'SERVICE', handlers: [{ name: 'go' }], ...more };
}
