import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { exchangeError, type EndpointRequest, type EndpointResponse } from './exchange.js';
import { http1Exchange } from './http1-exchange.js';
import { http2Exchange } from './http2-exchange.js';

/** Asks over TLS; the peer chooses between HTTP/2 and HTTP/1.1 (ALPN). Errors: ExchangeError. */
export async function tlsExchange(request: EndpointRequest): Promise<EndpointResponse> {
  const { hostname, port } = request.origin;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({
    host,
    port: port === '' ? 443 : Number(port),
    ALPNProtocols: ['h2', 'http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  try {
    await once(socket, 'secureConnect', { signal: request.signal });
  } catch (error) {
    socket.destroy();
    throw exchangeError(error, request.signal);
  }
  try {
    const exchange = socket.alpnProtocol === 'h2' ? http2Exchange : http1Exchange;
    return await exchange(request, socket);
  } finally {
    socket.destroy();
  }
}
