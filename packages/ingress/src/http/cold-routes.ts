/**
 * Everything but calls and sends, as routes of express, which costs a hundred microseconds a request and is loaded with the
 * first one. Paths are already parsed by then (raw, with empty and undecoded segments), so each kind of route has one path here.
 */

import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import express, { type Express, type Request, type Response } from 'express';
import type { IngressContext } from '../context.js';
import type { ColdRoute } from '../router.js';
import { failExchange } from './answers.js';
import { answerAwakeable } from './awakeable.js';
import type { Exchange } from './exchange.js';
import { answerHealth } from './health.js';
import { answerLookup } from './lookup.js';
import { answerResult } from './result.js';

type RouteOf<Kind extends ColdRoute['kind']> = Extract<ColdRoute, { kind: Kind }>;

interface Locals extends Record<string, unknown> {
  readonly exchange: Exchange;
  readonly route: ColdRoute;
}

export class ColdRoutes {
  readonly #context: IngressContext;
  #http1: Express | undefined;
  #http2: Express | undefined;

  constructor(context: IngressContext) {
    this.#context = context;
  }

  handle(exchange: Exchange, route: ColdRoute): void {
    const app = exchange.isHttp2
      ? (this.#http2 ??= onHttp2(createApp(this.#context)))
      : (this.#http1 ??= createApp(this.#context));
    const request = exchange.request as Request;
    const response = exchange.response as Response<unknown, Locals>;
    request.url = `/${route.kind}`;
    response.locals = { exchange, route };
    app(request, response, (error: unknown) => {
      failExchange(exchange, error);
    });
  }
}

function createApp(context: IngressContext): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.all('/health', (_, { locals }: Response<unknown, Locals>) => {
    answerHealth(context, locals.exchange);
  });
  app.all('/lookup', (_, { locals }: Response<unknown, Locals>) => {
    answerLookup(context, locals.exchange);
  });
  app.all('/result', (_, { locals }: Response<unknown, Locals>) => {
    answerResult(context, locals.exchange, locals.route as RouteOf<'result'>);
  });
  app.all('/awakeable', (_, { locals }: Response<unknown, Locals>) => {
    answerAwakeable(context, locals.exchange, locals.route as RouteOf<'awakeable'>);
  });
  return app;
}

/** Express hangs its methods on HTTP/1 messages; the same methods on HTTP/2 messages make it serve those. */
function onHttp2(app: Express): Express {
  app.request = graft(app.request, Http2ServerRequest.prototype);
  app.response = graft(app.response, Http2ServerResponse.prototype);
  return app;
}

// app.request → express.request → IncomingMessage.prototype: the first two are copied, the third is exchanged.
function graft<T extends object>(appMessage: T, base: object): T {
  const shared: object = Object.getPrototypeOf(appMessage) as object;
  const methods: object = Object.create(base, Object.getOwnPropertyDescriptors(shared)) as object;
  return Object.create(methods, Object.getOwnPropertyDescriptors(appMessage)) as T;
}
