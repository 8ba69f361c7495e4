/** From a checked request to its partition: the request with its own id and the retention of this moment. */

import { retentionOf, type Header, type InvocationId, type ResolvedHandler } from '@engine/domain';
import type { SentRequest } from '@engine/wire';
import type { IngressContext } from './context.js';
import type { OnAnswer } from './waiting.js';

export interface NewInvocation {
  readonly id: InvocationId;
  readonly handler: ResolvedHandler;
  /** Set exactly for handlers of objects and workflows. */
  readonly key: string | undefined;
  /** The empty string is a key. */
  readonly idempotencyKey: string | undefined;
  readonly headers: readonly Header[];
  readonly payload: Uint8Array;
  /** Start not before this time, ms since the epoch; undefined = now. */
  readonly executionTime: number | undefined;
  readonly awaits: 'submission' | 'result';
}

/** Sends the invocation to its partition; `onAnswer` runs once, perhaps before this returns. */
export function submit(
  context: IngressContext,
  invocation: NewInvocation,
  onAnswer: OnAnswer,
): SentRequest {
  const { id, handler, key, idempotencyKey } = invocation;
  const retention = retentionOf(handler, idempotencyKey !== undefined);
  return context.waiting.send(
    {
      kind: 'invoke',
      requestId: context.requestIds.next(),
      awaits: invocation.awaits,
      invocation: {
        id,
        target: {
          kind: handler.kind,
          service: handler.service.name,
          key,
          handler: handler.handler.name,
        },
        headers: invocation.headers,
        payload: invocation.payload,
        idempotencyKey,
        executionTime: invocation.executionTime,
        completionRetentionMs: retention.completionRetentionMs,
        journalRetentionMs: retention.journalRetentionMs,
      },
    },
    onAnswer,
  );
}
