/** Answers any OPTIONS request, on any path: browsers may call from anywhere. */

import type { Exchange } from './exchange.js';

export function answerPreflight(exchange: Exchange): void {
  const { preflightMethod, preflightHeaders } = exchange.head;
  const headers = exchange.headers();
  if (preflightMethod !== undefined) headers.push('access-control-allow-methods', preflightMethod);
  if (preflightHeaders !== undefined) {
    headers.push('access-control-allow-headers', preflightHeaders);
  }
  exchange.respond(200, headers);
}
