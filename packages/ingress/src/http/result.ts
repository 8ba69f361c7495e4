/** Attach waits for the result of an invocation; output looks whether there is one. */

import type { Failure, InvocationId, PartitionAnswer } from '@engine/domain';
import type { IngressContext } from '../context.js';
import { handlerNamedBy, invocationIdOf, type InvocationQuery } from '../invocation-query.js';
import { BODY_TOO_LARGE, METHOD_NOT_ALLOWED, NOT_FOUND, refuse } from '../refusal.js';
import type { ColdRoute, ResultVerb } from '../router.js';
import {
  pushInvocationId,
  respondFailure,
  respondRefusal,
  respondResult,
  respondUnavailable,
} from './answers.js';
import { readBody } from './body.js';
import type { Exchange } from './exchange.js';
import { parseQueryBody } from './query-body.js';

const ADVICE = 'The request can be sent again safely.';
const NOT_READY = refuse(470, 'the invocation exists but has not completed yet');
const INVOCATION_NOT_FOUND = refuse(404, 'invocation not found');
const GONE: Failure = { code: 404, message: 'not found', metadata: [] };

export function answerResult(
  context: IngressContext,
  exchange: Exchange,
  route: Extract<ColdRoute, { kind: 'result' }>,
): void {
  const { verb, query } = route;
  if (exchange.method !== (query === undefined ? 'POST' : 'GET')) {
    respondRefusal(exchange, METHOD_NOT_ALLOWED);
  } else if (query === undefined) {
    askForBody(context, exchange, verb);
  } else {
    ask(context, exchange, { verb, query });
  }
}

function askForBody(context: IngressContext, exchange: Exchange, verb: ResultVerb): void {
  readBody(exchange, context.config.requestBytesMax, (body) => {
    const query = body === undefined ? BODY_TOO_LARGE : parseQueryBody(body, 'request');
    if ('status' in query) respondRefusal(exchange, query);
    else ask(context, exchange, { verb, query });
  });
}

interface Question {
  readonly verb: ResultVerb;
  readonly query: InvocationQuery;
}

function ask(context: IngressContext, exchange: Exchange, question: Question): void {
  const invocationId = invocationIdOf(question.query, context.hashes);
  exchange.asked = context.waiting.send(
    {
      kind: 'attach',
      requestId: context.requestIds.next(),
      invocationId,
      blocking: question.verb === 'attach',
    },
    (answer) => {
      respond({ context, exchange, question, id: invocationId }, answer);
    },
  );
}

interface Asked {
  readonly context: IngressContext;
  readonly exchange: Exchange;
  readonly question: Question;
  readonly id: InvocationId;
}

function respond(asked: Asked, answer: PartitionAnswer): void {
  const { exchange } = asked;
  switch (answer.kind) {
    case 'result':
      respondKnown(asked, answer);
      return;
    case 'not-found':
      if (asked.question.verb === 'attach') respondGone(asked);
      else respondRefusal(exchange, INVOCATION_NOT_FOUND);
      return;
    case 'not-ready':
      respondRefusal(exchange, NOT_READY);
      return;
    case 'unavailable':
      respondUnavailable(exchange, answer, ADVICE);
      return;
    case 'submitted':
    case 'operation':
      respondRefusal(exchange, refuse(500, `internal error: unexpected answer '${answer.kind}'`));
  }
}

/** A success needs its handler for the content type; when that is no longer registered there is nothing to show. */
function respondKnown(asked: Asked, answer: Extract<PartitionAnswer, { kind: 'result' }>): void {
  const { context, exchange, id, question } = asked;
  const { result, expiresAt, target } = answer;
  const schema = context.schema();
  const handler =
    target === undefined
      ? handlerNamedBy(question.query, schema)
      : schema.handler(target.service, target.handler);
  const isNamed = target !== undefined || question.query.kind !== 'invocation';
  if (result.kind === 'success' && handler === undefined && isNamed) {
    respondRefusal(exchange, NOT_FOUND);
  } else {
    respondResult(exchange, { id, result, expiresAt, output: handler?.handler.output });
  }
}

/** Unlike `output`, `attach` reports an unknown invocation as if it had failed, together with its id. */
function respondGone({ exchange, id }: Asked): void {
  const headers = exchange.headers();
  pushInvocationId(headers, id);
  respondFailure(exchange, headers, GONE);
}
