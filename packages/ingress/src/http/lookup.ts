/** From the name of an invocation to its id. Arithmetic only: nothing needs to exist. */

import type { IngressContext } from '../context.js';
import { invocationIdOf } from '../invocation-query.js';
import { BODY_TOO_LARGE, METHOD_NOT_ALLOWED } from '../refusal.js';
import { JSON_TYPE, respondRefusal } from './answers.js';
import { readBody } from './body.js';
import type { Exchange } from './exchange.js';
import { parseQueryBody } from './query-body.js';

export function answerLookup(context: IngressContext, exchange: Exchange): void {
  if (exchange.method !== 'POST') {
    respondRefusal(exchange, METHOD_NOT_ALLOWED);
    return;
  }
  readBody(exchange, context.config.requestBytesMax, (body) => {
    const query = body === undefined ? BODY_TOO_LARGE : parseQueryBody(body, 'lookup');
    if ('status' in query) {
      respondRefusal(exchange, query);
      return;
    }
    const headers = exchange.headers();
    headers.push('content-type', JSON_TYPE);
    const invocationId = invocationIdOf(query, context.hashes);
    exchange.respond(200, headers, JSON.stringify({ invocationId }));
  });
}
