/** Invoke: creates an invocation once per id, attaches every other request to it (SPEC INV). */

import type { Invocation, InvocationRequest } from '@engine/domain';
import { failureResult, isRetained, limits } from '@engine/domain';

import type { Draft } from '../draft.js';
import { appendCommand } from '../journal.js';
import { admit, laterOf } from '../lifecycle.js';
import { newInvocation } from '../new-invocation.js';
import { purge } from '../purge.js';
import { isSameSink, respond, storedResult } from '../respond.js';

export function invoke(
  draft: Draft,
  request: InvocationRequest,
  submitRequestId: string | undefined,
): void {
  const existing = draft.invocation(request.id);
  if (existing !== undefined && isInUse(draft, existing, request)) {
    repeat(draft, request, { existing, submitRequestId });
    return;
  }
  if (existing !== undefined) {
    purge(draft, request.id, { row: existing, entriesMax: Infinity });
  }
  if (submitRequestId !== undefined) {
    draft.act({
      kind: 'AnswerRequest',
      requestId: submitRequestId,
      answer: { kind: 'submitted', isNew: true, executionTime: request.executionTime },
    });
  }
  create(draft, request);
}

/** An ended invocation occupies its id while its result is offered; after that only for the request that made it. */
function isInUse(draft: Draft, existing: Invocation, request: InvocationRequest): boolean {
  return (
    existing.status !== 'completed' ||
    isRetained(existing, draft.at) ||
    isSameRequest(existing, request)
  );
}

function isSameRequest(existing: Invocation, request: InvocationRequest): boolean {
  return (
    existing.source.kind === 'ingress' &&
    request.source.kind === 'ingress' &&
    existing.source.requestId === request.source.requestId
  );
}

function repeat(
  draft: Draft,
  request: InvocationRequest,
  known: { readonly existing: Invocation; readonly submitRequestId: string | undefined },
): void {
  const { existing } = known;
  const isSame = isSameRequest(existing, request);
  if (known.submitRequestId !== undefined) {
    const isScheduled = existing.status === 'scheduled';
    draft.act({
      kind: 'AnswerRequest',
      requestId: known.submitRequestId,
      answer: {
        kind: 'submitted',
        isNew: isSame,
        executionTime: isSame || isScheduled ? existing.executionTime : undefined,
      },
    });
  }
  if (request.sink === undefined) return;
  if (existing.target.kind === 'workflow-run' && !isSame) {
    const result = failureResult(409, 'the workflow method was already invoked');
    respond(draft, request.sink, { result, target: existing.target });
    return;
  }
  attachSink(draft, existing, { request });
}

/** Adds a waiting sink, or answers it from the stored result. */
function attachSink(
  draft: Draft,
  row: Invocation,
  attach: { readonly request: InvocationRequest },
): void {
  const { id, sink } = attach.request;
  if (sink === undefined) return;
  attachTo(draft, id, { row, sink });
}

/** Makes a sink wait for the end of an invocation; one that ended answers at once. */
export function attachTo(
  draft: Draft,
  id: InvocationRequest['id'],
  attach: { readonly row: Invocation; readonly sink: NonNullable<InvocationRequest['sink']> },
): void {
  const { row, sink } = attach;
  if (row.status === 'completed') {
    respond(draft, sink, {
      result: storedResult(draft, id, row),
      target: row.target,
      expiresAt: (row.completedAt ?? draft.at) + row.completionRetentionMs,
    });
    return;
  }
  if (row.sinks.some((waiting) => isSameSink(waiting, sink))) return;
  if (row.sinks.length >= limits.RESPONSE_SINKS_MAX) {
    const result = failureResult(429, 'too many callers wait for this invocation');
    respond(draft, sink, { result, target: row.target });
    return;
  }
  draft.putInvocation(id, {
    ...row,
    sinks: [...row.sinks, sink],
    modifiedAt: laterOf(row, draft),
  });
}

function create(draft: Draft, request: InvocationRequest): void {
  const { id, sink, headers, payload } = request;
  const blank = newInvocation(draft, { ...request, sinks: sink === undefined ? [] : [sink] });
  const row = appendCommand(draft, id, {
    row: blank,
    entry: { kind: 'input', headers, payload, appendedAt: draft.at },
  });
  if (row.status !== 'scheduled' || row.executionTime === undefined) {
    admit(draft, id, row);
    return;
  }
  draft.putInvocation(id, row);
  const dueAt = row.executionTime;
  const key = { dueAt, kind: 'start', invocationId: id, index: 0 } as const;
  draft.setTimer(key, row.incarnation);
}
