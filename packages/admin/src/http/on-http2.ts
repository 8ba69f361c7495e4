import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Express } from 'express';

export type Http2Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** Express hangs its methods on HTTP/1 messages; the same methods on HTTP/2 messages make it serve those. */
export function onHttp2(app: Express): Http2Listener {
  app.request = graft(app.request, Http2ServerRequest.prototype);
  app.response = graft(app.response, Http2ServerResponse.prototype);
  return app as unknown as Http2Listener;
}

// app.request → express.request → IncomingMessage.prototype: the first two are copied, the third is exchanged.
function graft<T extends object>(appMessage: T, base: object): T {
  const shared: object = Object.getPrototypeOf(appMessage) as object;
  const methods: object = Object.create(base, Object.getOwnPropertyDescriptors(shared)) as object;
  return Object.create(methods, Object.getOwnPropertyDescriptors(appMessage)) as T;
}
