import { once } from 'node:events';
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { Socket } from 'node:net';
import {
  exchangeError,
  ExchangeError,
  type EndpointRequest,
  type EndpointResponse,
} from './exchange.js';
import { readBody } from './read-body.js';

type ResponseHeaders = IncomingHttpHeaders & IncomingHttpStatusHeader;

/** Asks over HTTP/2 without asking first (prior knowledge), or on `socket`, where TLS has settled it. Errors: ExchangeError. */
export async function http2Exchange(
  request: EndpointRequest,
  socket?: Socket,
): Promise<EndpointResponse> {
  const session = connect(
    request.origin,
    socket === undefined ? {} : { createConnection: () => socket },
  );
  const watch = watchSession(session);
  try {
    return await Promise.race([exchange(session, request, watch), watch.failed]);
  } catch (error) {
    throw error instanceof ExchangeError ? error : exchangeError(error, request.signal);
  } finally {
    session.destroy();
  }
}

async function exchange(
  session: ClientHttp2Session,
  request: EndpointRequest,
  watch: SessionWatch,
): Promise<EndpointResponse> {
  const stream = openStream(session, request);
  const [headers] = (await once(stream, 'response', { signal: request.signal }).catch(
    (error: unknown) => {
      // A session that breaks takes its streams along first; what happened is told by the session.
      if (!watch.hasSettings() && !request.signal.aborted) return watch.failed;
      throw error;
    },
  )) as [ResponseHeaders];
  return {
    status: headers[':status'] ?? 0,
    contentType: headers['content-type'],
    server: headers['x-restate-server']?.toString(),
    body: await readBody(stream, request.signal),
    httpVersion: 'HTTP/2.0',
    canStreamBothWays: true,
  };
}

function openStream(session: ClientHttp2Session, request: EndpointRequest): ClientHttp2Stream {
  try {
    const { body, target, headers } = request;
    const method = body === undefined ? 'GET' : 'POST';
    const stream = session.request(
      { ':method': method, ':path': target, ...headers },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    return stream;
  } catch (error) {
    throw new ExchangeError('unusable', messageOf(error), error);
  }
}

interface SessionWatch {
  /** Rejects when the session fails; never resolves. */
  readonly failed: Promise<never>;
  /** True once the peer has shown that it speaks HTTP/2. */
  hasSettings(): boolean;
}

/** A peer that speaks HTTP/1.1 breaks the rules before it has said anything right. */
function watchSession(session: ClientHttp2Session): SessionWatch {
  let isConnected = false;
  let hasSettings = false;
  session.once('connect', () => {
    isConnected = true;
  });
  session.once('remoteSettings', () => {
    hasSettings = true;
  });
  const failed = new Promise<never>((_resolve, reject) => {
    session.on('error', (error: NodeJS.ErrnoException) => {
      const isProtocol = error.code?.startsWith('ERR_HTTP2') === true;
      const fault = isConnected && !hasSettings && isProtocol ? 'speaks-http1' : 'unreachable';
      reject(new ExchangeError(fault, error.message, error));
    });
    session.once('close', () => {
      reject(new ExchangeError('unreachable', 'the endpoint closed the connection'));
    });
  });
  // The exchange may be over before the session closes.
  failed.catch(() => undefined);
  return { failed, hasSettings: () => hasSettings };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
