/** Completes awakeables from outside: the body becomes the value, or the message of a failure. There is no not-found. */

import { parseAwakeableId, type AwakeableTarget, type NotificationResult } from '@engine/domain';
import { decodeUtf8 } from '@engine/stdx';
import type { IngressContext } from '../context.js';
import { BODY_TOO_LARGE, METHOD_NOT_ALLOWED, refuse } from '../refusal.js';
import type { ColdRoute } from '../router.js';
import { respondRefusal, respondUnavailable } from './answers.js';
import { readBody } from './body.js';
import type { Exchange } from './exchange.js';

type AwakeableRoute = Extract<ColdRoute, { kind: 'awakeable' }>;

const REJECTED_CODE = 500;
const ADVICE = 'Sent again, the first completion wins.';
// Ids of this older form count journal entries, not signals; no protocol version in use makes them.
const LEGACY_PREFIX = 'prom_';

export function answerAwakeable(
  context: IngressContext,
  exchange: Exchange,
  route: AwakeableRoute,
): void {
  if (exchange.method !== 'POST') {
    respondRefusal(exchange, METHOD_NOT_ALLOWED);
    return;
  }
  readBody(exchange, context.config.requestBytesMax, (body) => {
    const parsed = parseAwakeableId(route.id);
    if (body === undefined) {
      respondRefusal(exchange, BODY_TOO_LARGE);
    } else if (parsed.kind === 'bad') {
      respondRefusal(exchange, refuse(400, `bad awakeable id '${route.id}': ${parsed.reason}`));
    } else if (route.id.startsWith(LEGACY_PREFIX)) {
      respondAccepted(exchange);
    } else {
      complete(context, exchange, { target: parsed.id, result: resultOf(route, body) });
    }
  });
}

function resultOf(route: AwakeableRoute, body: Uint8Array): NotificationResult {
  if (route.verb === 'resolve') return { kind: 'value', value: body };
  const failure = { code: REJECTED_CODE, message: decodeUtf8(body), metadata: [] };
  return { kind: 'failure', failure };
}

function complete(
  context: IngressContext,
  exchange: Exchange,
  completion: { readonly target: AwakeableTarget; readonly result: NotificationResult },
): void {
  context.waiting.send(
    {
      kind: 'signal',
      requestId: context.requestIds.next(),
      invocationId: completion.target.invocationId,
      id: { kind: 'signal', index: completion.target.signalIndex },
      result: completion.result,
    },
    (answer) => {
      if (answer.kind === 'unavailable') respondUnavailable(exchange, answer, ADVICE);
      else respondAccepted(exchange);
    },
  );
}

function respondAccepted(exchange: Exchange): void {
  exchange.respond(202, exchange.headers());
}
