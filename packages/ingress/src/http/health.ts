/** Whether this process can take work, and for which services. */

import type { IngressContext } from '../context.js';
import { METHOD_NOT_ALLOWED, refuse } from '../refusal.js';
import { JSON_TYPE, respondRefusal } from './answers.js';
import type { Exchange } from './exchange.js';

const NOT_READY = refuse(503, 'the server is not ready to take work');

export function answerHealth(context: IngressContext, exchange: Exchange): void {
  if (exchange.method !== 'GET') {
    respondRefusal(exchange, METHOD_NOT_ALLOWED);
    return;
  }
  if (!context.isReady()) {
    respondRefusal(exchange, NOT_READY);
    return;
  }
  const services = Array.from(context.schema().services(), ({ service }) => service.name).sort();
  const headers = exchange.headers();
  headers.push('content-type', JSON_TYPE);
  exchange.respond(200, headers, JSON.stringify({ services }));
}
