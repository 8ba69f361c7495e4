/** The bodies and headers of answers: results of invocations, refusals of the ingress. */

import {
  TIMESTAMP_MS_MAX,
  type Failure,
  type InvocationId,
  type OutputPayload,
  type PartitionAnswer,
  type Result,
} from '@engine/domain';
import { requestRateLimited } from '../events.js';
import { RETRY_AFTER_SECONDS } from '../limits.js';
import { log } from '../logger.js';
import { refuse, TOO_MANY_REQUESTS, type Refusal } from '../refusal.js';
import type { Exchange, HeaderList } from './exchange.js';
import { isVisibleAscii } from './request-head.js';

export const JSON_TYPE = 'application/json';

const STATUS_MIN = 200;
const STATUS_MAX = 999;
const INTERNAL = refuse(500, 'internal error');

type Unavailable = Extract<PartitionAnswer, { kind: 'unavailable' }>;

/** What a completed invocation is answered with. */
export interface ResultAnswer {
  readonly id: InvocationId;
  readonly result: Result;
  /** When a stored result expires, ms since the epoch; undefined for callers that waited for the end. */
  readonly expiresAt: number | undefined;
  /** Of the handler; undefined = not described. */
  readonly output: OutputPayload | undefined;
}

export function respondResult(exchange: Exchange, answer: ResultAnswer): void {
  const headers = exchange.headers();
  pushInvocationId(headers, answer.id);
  if (answer.expiresAt !== undefined) {
    headers.push('idempotency-expires', expiryText(answer.expiresAt));
  }
  const { result } = answer;
  if (result.kind === 'failure') {
    respondFailure(exchange, headers, result.failure);
    return;
  }
  const type = outputType(answer.output, result.value.length === 0);
  if (type !== undefined) headers.push('content-type', type);
  exchange.respond(200, headers, result.value);
}

/** The failure of an invocation, also of one that is not there. */
export function respondFailure(exchange: Exchange, headers: HeaderList, failure: Failure): void {
  const { code, message, stacktrace, metadata } = failure;
  const body = JSON.stringify({
    code,
    message,
    stacktrace,
    metadata:
      metadata.length === 0
        ? undefined
        : Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
    source: 'invocation',
  });
  pushErrorSource(headers, 'invocation');
  const status = code >= STATUS_MIN && code <= STATUS_MAX ? code : 500;
  exchange.respond(status, headers, body);
}

export function respondRefusal(
  exchange: Exchange,
  refusal: Refusal,
  headers: HeaderList = exchange.headers(),
): void {
  const { status, message } = refusal;
  pushErrorSource(headers, 'ingress');
  exchange.respond(status, headers, JSON.stringify({ code: status, message, source: 'ingress' }));
}

/** Answers a request that no partition has decided. `advice` says whether it is safe to send it again. */
export function respondUnavailable(
  exchange: Exchange,
  answer: Unavailable,
  advice: string,
): Refusal {
  const refusal =
    answer.reason === 'overloaded' ? TOO_MANY_REQUESTS : refuse(503, routingError(answer, advice));
  respondRetryLater(exchange, refusal);
  return refusal;
}

function routingError({ reason }: Unavailable, advice: string): string {
  const cause =
    reason === 'disconnected'
      ? 'no leader of the partition could be reached in time'
      : 'the partition is not available';
  return `internal routing error: ${cause}. ${advice}`;
}

/** Answers a request for which there is no room. */
export function respondOverloaded(exchange: Exchange): void {
  requestRateLimited();
  respondRetryLater(exchange, TOO_MANY_REQUESTS);
}

function respondRetryLater(exchange: Exchange, refusal: Refusal): void {
  const headers = exchange.headers();
  headers.push('retry-after', String(RETRY_AFTER_SECONDS));
  respondRefusal(exchange, refusal, headers);
}

/** A fault of the server itself: the cause goes to the log, a bare 500 to the caller. */
export function failExchange(exchange: Exchange, error: unknown): void {
  log.error({ err: error, path: exchange.path }, 'a request failed inside the ingress');
  try {
    respondRefusal(exchange, INTERNAL);
  } catch {
    exchange.response.destroy();
  }
}

export function pushInvocationId(headers: HeaderList, id: InvocationId): void {
  headers.push('x-engine-id', id, 'x-restate-id', id);
}

/** `2026-11-21T20:09:59.768+00:00`; without fraction on whole seconds. */
export function expiryText(ms: number): string {
  return isoWithZone(ms, '', '+00:00');
}

/** `2026-11-20T21:09:59.867000000Z`; without fraction on whole seconds. */
export function executionTimeText(ms: number): string {
  return isoWithZone(ms, '000000', 'Z');
}

function isoWithZone(ms: number, moreDigits: string, zone: string): string {
  const text = new Date(Math.min(ms, TIMESTAMP_MS_MAX)).toISOString().slice(0, -1);
  return text.endsWith('.000') ? text.slice(0, -4) + zone : text + moreDigits + zone;
}

function outputType(output: OutputPayload | undefined, isEmpty: boolean): string | undefined {
  if (output === undefined) return isEmpty ? undefined : JSON_TYPE;
  const type = isEmpty && !output.setContentTypeIfEmpty ? undefined : output.contentType;
  return type !== undefined && isVisibleAscii(type) ? type : undefined;
}

function pushErrorSource(headers: HeaderList, source: 'ingress' | 'invocation'): void {
  headers.push('content-type', JSON_TYPE);
  headers.push('x-engine-error-source', source, 'x-restate-error-source', source);
}
