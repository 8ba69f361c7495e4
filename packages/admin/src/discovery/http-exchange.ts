/** One request to an HTTP endpoint, in the version that suits it. */

import type { EndpointRequest, EndpointResponse } from './exchange.js';
import { http1Exchange } from './http1-exchange.js';
import { http2Exchange } from './http2-exchange.js';
import { tlsExchange } from './tls-exchange.js';

/** Errors: ExchangeError. */
export function exchangeOver(
  { useHttp11 }: { readonly useHttp11: boolean },
  request: EndpointRequest,
): Promise<EndpointResponse> {
  if (useHttp11) return http1Exchange(request);
  return request.origin.protocol === 'https:' ? tlsExchange(request) : http2Exchange(request);
}

/** The header for the credentials in a URI; none without them. */
export function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
