import { assertNever } from '@engine/stdx';

import type { PlannedOperation } from '../plan/operation.js';
import type { Question } from './ingress-client.js';

export type Request = Omit<Question, 'op'>;

/** The first request of an operation. */
export function requestOf(op: PlannedOperation): Request {
  const { path, body } = targetOf(op);
  const isOrder = op.what.kind === 'order';
  const request = { path, ...(body === undefined ? {} : { body }) };
  // The key of a workflow does what an idempotency key does; reading twice changes nothing.
  if (isOrder || op.what.kind === 'read') return { ...request, isRepeatable: true };
  if (!op.isKeyed) return { ...request, isRepeatable: false };
  return { ...request, isRepeatable: true, idempotencyKey: op.id };
}

function targetOf({ id, what }: PlannedOperation): {
  readonly path: string;
  readonly body: unknown;
} {
  switch (what.kind) {
    case 'add':
      return {
        path: `call/Account/${what.key}/add`,
        body: { effect: id, amount: what.amount },
      };
    case 'slow-add':
      return {
        path: `call/Account/${what.key}/slowAdd`,
        body: { effect: id, amount: what.amount, ms: what.ms },
      };
    case 'send-add': {
      const delay = what.delayMs === 0 ? '' : `?delay=${String(what.delayMs)}ms`;
      return {
        path: `send/Account/${what.key}/add${delay}`,
        body: { effect: id, amount: what.amount },
      };
    }
    case 'read':
      return { path: `call/Account/${what.key}/read`, body: undefined };
    case 'order':
      return { path: `send/Order/${id}/run`, body: { key: what.key } };
    case 'transfer':
    case 'steps':
    case 'nap':
    case 'wait':
    case 'spread':
      return { path: `call/Journey/${what.kind}`, body: { op: id, ...what } };
    default:
      return assertNever(what);
  }
}
