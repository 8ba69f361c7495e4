/** Attach and output: the result of an invocation that somebody else asked for (SPEC ATT). */

import type { CompletionSlot, InvocationId } from '@engine/domain';
import { failureResult, isRetained, VOID } from '@engine/domain';

import type { AttachRequest } from '../command.js';
import type { Draft } from '../draft.js';
import { storedResult, toNotification } from '../respond.js';
import { attachTo } from './invoke.js';

/** From an ingress. */
export function attachForRequest(draft: Draft, command: AttachRequest): void {
  const { requestId, invocationId } = command;
  const row = draft.invocation(invocationId);
  if (row === undefined || (row.status === 'completed' && !isRetained(row, draft.at))) {
    draft.act({ kind: 'AnswerRequest', requestId, answer: { kind: 'not-found' } });
    return;
  }
  if (row.status !== 'completed' && !command.blocking) {
    draft.act({ kind: 'AnswerRequest', requestId, answer: { kind: 'not-ready' } });
    return;
  }
  attachTo(draft, invocationId, { row, sink: { kind: 'request', requestId } });
}

/** From another invocation. */
export function attachForInvocation(
  draft: Draft,
  invocationId: InvocationId,
  attach: { readonly blocking: boolean; readonly slot: CompletionSlot },
): void {
  const { slot } = attach;
  const row = draft.invocation(invocationId);
  if (row === undefined || (row.status === 'completed' && !isRetained(row, draft.at))) {
    draft.send({ kind: 'respond', slot, result: toNotification(failureResult(404, 'not found')) });
    return;
  }
  if (row.status === 'completed') {
    const result = toNotification(storedResult(draft, invocationId, row));
    draft.send({ kind: 'respond', slot, result });
    return;
  }
  if (!attach.blocking) {
    draft.send({ kind: 'respond', slot, result: VOID });
    return;
  }
  attachTo(draft, invocationId, { row, sink: { kind: 'completion', slot } });
}
