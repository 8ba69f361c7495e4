/** What happens to every request, in the order of the interface: size, CORS, concurrency, path, route. */

import type { IngressContext } from '../context.js';
import { requestAdmitted, requestRateLimited } from '../events.js';
import { REQUEST_HEADERS_MAX, REQUEST_TARGET_LENGTH_MAX } from '../limits.js';
import { TOO_MANY_REQUESTS } from '../refusal.js';
import { routeOf, type Route } from '../router.js';
import { failExchange, respondRefusal } from './answers.js';
import { answerPreflight } from './cors.js';
import type { ColdRoutes } from './cold-routes.js';
import { Exchange, type ConnectionState, type HttpRequest, type HttpResponse } from './exchange.js';
import { invoke } from './invoke.js';

export class Dispatcher {
  readonly #context: IngressContext;
  readonly #state: ConnectionState;
  #coldRoutes: Promise<ColdRoutes> | undefined;
  #openCount = 0;

  constructor(context: IngressContext, state: ConnectionState) {
    this.#context = context;
    this.#state = state;
  }

  /** Requests that were admitted and whose response has not been closed. */
  get openCount(): number {
    return this.#openCount;
  }

  handle(request: HttpRequest, response: HttpResponse): void {
    const exchange = new Exchange(request, response, this.#state);
    try {
      this.#handle(exchange);
    } catch (error) {
      failExchange(exchange, error);
    }
  }

  #handle(exchange: Exchange): void {
    const { config } = this.#context;
    if (isRefusedBelowRoutes(exchange)) return;
    if ((exchange.head.contentLength ?? 0) > config.requestBytesMax) {
      exchange.respond(413, ['content-type', 'text/plain; charset=utf-8'], 'length limit exceeded');
      return;
    }
    if (exchange.method === 'OPTIONS') {
      answerPreflight(exchange);
      return;
    }
    if (this.#openCount >= config.concurrentRequestsMax) {
      requestRateLimited();
      respondRefusal(exchange, TOO_MANY_REQUESTS);
      return;
    }
    this.#openCount += 1;
    exchange.response.on('close', () => {
      this.#openCount -= 1;
      // After an answer there is nothing left to call back.
      exchange.asked?.withdraw();
    });
    requestAdmitted();
    this.#route(exchange);
  }

  #route(exchange: Exchange): void {
    const { catchUp, schema } = this.#context;
    const route = routeOf(exchange.path, schema());
    if (catchUp === undefined || !isUnknown(route)) {
      this.#follow(exchange, route);
      return;
    }
    void catchUp().then(() => {
      try {
        this.#follow(exchange, routeOf(exchange.path, schema()));
      } catch (error) {
        failExchange(exchange, error);
      }
    });
  }

  #follow(exchange: Exchange, route: Route): void {
    switch (route.kind) {
      case 'invoke':
        invoke(this.#context, exchange, route);
        return;
      case 'refused':
        respondRefusal(exchange, route.refusal);
        return;
      default:
        this.#coldRoutes ??= loadColdRoutes(this.#context);
        this.#coldRoutes.then(
          (routes) => {
            routes.handle(exchange, route);
          },
          (error: unknown) => {
            failExchange(exchange, error);
          },
        );
    }
  }
}

/** Names a service or handler that the schema does not have. */
function isUnknown(route: Route): boolean {
  if (route.kind === 'refused') return route.refusal.status === 404;
  return route.kind === 'invoke' && !route.service.handlers.has(route.handler);
}

async function loadColdRoutes(context: IngressContext): Promise<ColdRoutes> {
  const { ColdRoutes: Routes } = await import('./cold-routes.js');
  return new Routes(context);
}

function isRefusedBelowRoutes(exchange: Exchange): boolean {
  const { request } = exchange;
  if ((request.url ?? '').length > REQUEST_TARGET_LENGTH_MAX) exchange.respondBare(414);
  else if (!exchange.isHttp2 && request.rawHeaders.length > REQUEST_HEADERS_MAX * 2) {
    exchange.respondBare(431);
  } else return false;
  return true;
}
