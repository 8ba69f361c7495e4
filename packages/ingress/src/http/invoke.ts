/** Calls and sends: the hot path. One straight line from request to partition and from answer to response. */

import {
  limits,
  type InvocationId,
  type PartitionAnswer,
  type ResolvedHandler,
} from '@engine/domain';
import type { IngressContext } from '../context.js';
import { invokeEnded, type InvokeOutcome } from '../events.js';
import { PROTOCOL_VERSION_MIN } from '../limits.js';
import { badHeader, BODY_TOO_LARGE, METHOD_NOT_ALLOWED, refuse, type Refusal } from '../refusal.js';
import type { InvokeRoute } from '../router.js';
import { scopeFault } from '../scope-grammar.js';
import { submit } from '../submit.js';
import {
  executionTimeText,
  JSON_TYPE,
  pushInvocationId,
  respondRefusal,
  respondResult,
  respondUnavailable,
} from './answers.js';
import { readBody } from './body.js';
import type { Exchange } from './exchange.js';
import { inputFault } from './input-rules.js';
import { isVisibleAscii } from './request-head.js';
import { timingOf } from './timing.js';

/** A call or send on its way. */
interface Invoke {
  readonly context: IngressContext;
  readonly exchange: Exchange;
  readonly route: InvokeRoute;
  /** On the monotonic clock, ms. */
  readonly startedAt: number;
}

interface Submission {
  readonly id: InvocationId;
  readonly handler: ResolvedHandler;
  /** Planned start that the caller asked for, ms since the epoch. */
  readonly executionTime: number | undefined;
}

const KEY_TOO_LONG = refuse(
  400,
  `bad header idempotency-key: it is longer than ${String(limits.KEY_BYTES_MAX)} bytes`,
);
const ADVICE = 'A request with an idempotency key can be sent again safely.';

export function invoke(context: IngressContext, exchange: Exchange, route: InvokeRoute): void {
  const call: Invoke = { context, exchange, route, startedAt: context.clock.monotonic() };
  const handler = route.service.handlers.get(route.handler);
  const refusal = refusalBeforeBody(call, handler);
  if (refusal !== undefined || handler === undefined) {
    endRefused(call, refusal ?? handlerUnknown(route));
    return;
  }
  readBody(exchange, context.config.requestBytesMax, (body) => {
    if (body === undefined) endRefused(call, BODY_TOO_LARGE);
    else submitBody(call, handler, body);
  });
}

// The order of the checks is part of the interface: the first reason wins.
function refusalBeforeBody(
  { exchange, route }: Invoke,
  handler: ResolvedHandler | undefined,
): Refusal | undefined {
  if (handler === undefined) return handlerUnknown(route);
  if (!handler.isPublic) return refuse(400, 'the invoked service is not public');
  if (route.service.deployment.maxProtocolVersion < PROTOCOL_VERSION_MIN) return outdated(route);
  const { idempotencyKey } = exchange.head;
  if (idempotencyKey !== undefined) {
    if (!isVisibleAscii(idempotencyKey)) return badHeader('idempotency-key');
    if (idempotencyKey.length > limits.KEY_BYTES_MAX) return KEY_TOO_LONG;
    if (handler.kind === 'workflow-run') return WORKFLOW_WITH_KEY;
  }
  if (route.scope !== undefined) return scopeRefusal(route.scope);
  const { method } = exchange;
  return method === 'POST' || method === 'GET' ? undefined : METHOD_NOT_ALLOWED;
}

function submitBody(call: Invoke, handler: ResolvedHandler, body: Uint8Array): void {
  const { context, exchange, route } = call;
  const { head } = exchange;
  if (head.contentType !== undefined && !isVisibleAscii(head.contentType)) {
    endRefused(call, badHeader('content-type'));
    return;
  }
  const fault = inputFault(handler.handler.input, {
    contentType: head.contentType,
    isEmpty: body.length === 0,
  });
  if (fault !== undefined) {
    endRefused(call, refuse(400, `input validation error: ${fault}`));
    return;
  }
  const timing = timingOf(exchange, route.verb, context.clock);
  if ('status' in timing) {
    endRefused(call, timing);
    return;
  }
  const { key } = route;
  const { idempotencyKey } = head;
  const { executionTime } = timing;
  const id = context.invocationIds.idFor({ handler, key, idempotencyKey });
  const sent = submit(
    context,
    {
      id,
      handler,
      key,
      idempotencyKey,
      headers: head.forwarded,
      payload: body,
      executionTime,
      awaits: route.verb === 'call' ? 'result' : 'submission',
    },
    (answer) => {
      respond(call, { id, handler, executionTime }, answer);
    },
  );
  // A send is made durable also for who does not wait to hear so; only the wait for a result is given up.
  if (route.verb === 'call') exchange.asked = sent;
}

const WORKFLOW_WITH_KEY = refuse(
  400,
  'cannot use the idempotency key with workflow handlers. ' +
    'The handler invocation will already be idempotent by the workflow key itself.',
);

function scopeRefusal(scope: string): Refusal {
  const fault = scopeFault(scope);
  return refuse(
    400,
    fault === undefined
      ? 'scoped invocations require vqueues to be enabled'
      : `bad scope value: ${fault}`,
  );
}

function outdated({ service }: InvokeRoute): Refusal {
  const { name } = service.service;
  return refuse(
    400,
    `[RT0020] the service ${name} is exposed by the deprecated deployment ${service.deployment.id}. ` +
      `Upgrade the SDK used by ${name}.`,
  );
}

function handlerUnknown({ service, handler }: InvokeRoute): Refusal {
  return refuse(
    404,
    `the service '${service.service.name}' exists, but the handler '${handler}' was not found, ` +
      'check that the handler exists in the latest registered service version.',
  );
}

function respond(call: Invoke, submission: Submission, answer: PartitionAnswer): void {
  switch (answer.kind) {
    case 'result': {
      const { result, expiresAt } = answer;
      const { output } = submission.handler.handler;
      respondResult(call.exchange, { id: submission.id, result, expiresAt, output });
      end(call, result.kind === 'success' ? 'completed' : 'invocation_error');
      return;
    }
    case 'submitted':
      respondSubmitted(call.exchange, submission, answer);
      end(call, 'completed');
      return;
    case 'unavailable':
      endWith(call, respondUnavailable(call.exchange, answer, ADVICE));
      return;
    case 'not-found':
    case 'not-ready':
    case 'operation':
      endRefused(call, refuse(500, `internal error: unexpected answer '${answer.kind}'`));
  }
}

function respondSubmitted(
  exchange: Exchange,
  submission: Submission,
  answer: Extract<PartitionAnswer, { kind: 'submitted' }>,
): void {
  const { id } = submission;
  // A new invocation with a delay of zero has started by now, yet its caller is told the time that it asked for.
  const at = answer.executionTime ?? (answer.isNew ? submission.executionTime : undefined);
  const time = at === undefined ? '' : `"executionTime":"${executionTimeText(at)}",`;
  const status = answer.isNew ? 'Accepted' : 'PreviouslyAccepted';
  const headers = exchange.headers();
  headers.push('content-type', JSON_TYPE);
  pushInvocationId(headers, id);
  exchange.respond(202, headers, `{"invocationId":"${id}",${time}"status":"${status}"}`);
}

function endRefused(call: Invoke, refusal: Refusal): void {
  respondRefusal(call.exchange, refusal);
  endWith(call, refusal);
}

function endWith(call: Invoke, refusal: Refusal): void {
  end(call, refusal.status < 500 ? 'request_error' : 'ingress_error');
}

function end({ context, route, startedAt }: Invoke, outcome: InvokeOutcome): void {
  const durationMs = context.clock.monotonic() - startedAt;
  invokeEnded({ service: route.service.service.name, verb: route.verb, durationMs }, outcome);
}
