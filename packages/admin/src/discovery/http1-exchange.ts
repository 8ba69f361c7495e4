import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import {
  exchangeError,
  ExchangeError,
  type EndpointRequest,
  type EndpointResponse,
} from './exchange.js';
import { readBody } from './read-body.js';

/** Asks over HTTP/1.1, on a connection of its own or on `socket`. Errors: ExchangeError. */
export async function http1Exchange(
  request: EndpointRequest,
  socket?: Socket,
): Promise<EndpointResponse> {
  const response = await respond(request, socket);
  // HTTP/1.0 is kept as 1.1, which invocations then use; it can't stream both ways at once.
  const isHttp10 = response.httpVersionMajor === 1 && response.httpVersionMinor === 0;
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'],
    server: headerText(response.headers['x-restate-server']),
    body: await readBody(response, request.signal),
    httpVersion: 'HTTP/1.1',
    canStreamBothWays: !isHttp10,
  };
}

function respond(request: EndpointRequest, socket: Socket | undefined): Promise<IncomingMessage> {
  const { origin, target, headers, body, signal } = request;
  const send = origin.protocol === 'https:' && socket === undefined ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = send(
      new URL(target, origin),
      {
        method: body === undefined ? 'GET' : 'POST',
        headers,
        signal,
        agent: false,
        ...(socket === undefined ? {} : { createConnection: () => socket }),
      },
      resolve,
    );
    sent.on('error', (error: NodeJS.ErrnoException) => {
      reject(asExchangeError(error, signal));
    });
    sent.end(body);
  });
}

function asExchangeError(error: NodeJS.ErrnoException, signal: AbortSignal): ExchangeError {
  if (error.code?.startsWith('HPE_') === true) {
    return new ExchangeError('unusable', 'the endpoint does not answer in HTTP/1.1', error);
  }
  return exchangeError(error, signal);
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
