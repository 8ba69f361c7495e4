/** Durable promises of workflows: the first completion wins, every listener is told once (SPEC PRM). */

import type {
  DurablePromise,
  Invocation,
  InvocationId,
  NotificationResult,
  NotificationType,
} from '@engine/domain';
import { failureResult, usesPromises, VOID } from '@engine/domain';

import type { CommandEntry } from '../command.js';
import type { Draft } from '../draft.js';
import { appendNotification } from '../journal.js';
import { toNotification } from '../respond.js';

type Entry<T extends CommandEntry['type']> = Extract<
  CommandEntry,
  { type: T; completionId: number }
>;

export function getPromise(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: Entry<'get-promise'> },
): Invocation {
  if (!usesPromises(row.target.kind)) return row;
  const { service, key = '' } = row.target;
  const promise = draft.promise(service, key, entry.key);
  if (promise?.kind === 'completed') {
    return answer(draft, id, {
      row,
      type: 'get-promise',
      entry,
      result: toNotification(promise.result),
    });
  }
  const slot = {
    callerId: id,
    callerIncarnation: row.incarnation,
    completionId: entry.completionId,
    type: 'get-promise',
  } as const;
  const listeners = [...(promise?.listeners ?? []), slot];
  putPromise(draft, row, { name: entry.key, promise: { kind: 'pending', listeners } });
  return row;
}

export function peekPromise(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: Entry<'peek-promise'> },
): Invocation {
  const { service, key = '' } = row.target;
  const promise = draft.promise(service, key, entry.key);
  const result = promise?.kind === 'completed' ? toNotification(promise.result) : VOID;
  return answer(draft, id, { row, type: 'peek-promise', entry, result });
}

export function completePromise(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: Entry<'complete-promise'> },
): Invocation {
  if (!usesPromises(row.target.kind)) return row;
  const { service, key = '' } = row.target;
  const promise = draft.promise(service, key, entry.key);
  if (promise?.kind === 'completed') {
    const refusal = failureResult(409, 'promise was already completed');
    const result = toNotification(refusal);
    return answer(draft, id, { row, type: 'complete-promise', entry, result });
  }
  const result = entry.completion;
  putPromise(draft, row, { name: entry.key, promise: { kind: 'completed', result } });
  for (const slot of promise?.listeners ?? []) {
    draft.send({ kind: 'respond', slot, result: toNotification(result) });
  }
  return answer(draft, id, { row, type: 'complete-promise', entry, result: VOID });
}

function putPromise(
  draft: Draft,
  row: Invocation,
  put: { readonly name: string; readonly promise: DurablePromise },
): void {
  const { service, key = '' } = row.target;
  draft.putPromise({ service, key, name: put.name }, put.promise);
  const names = draft.promiseDirectory(service, key)?.names ?? [];
  if (names.includes(put.name)) return;
  draft.putPromiseDirectory(service, key, { names: [...names, put.name] });
}

function answer(
  draft: Draft,
  id: InvocationId,
  give: {
    readonly row: Invocation;
    readonly type: NotificationType;
    readonly entry: { readonly completionId: number };
    readonly result: NotificationResult;
  },
): Invocation {
  return appendNotification(draft, id, {
    row: give.row,
    notification: {
      type: give.type,
      id: { kind: 'completion', id: give.entry.completionId },
      result: give.result,
    },
  });
}
