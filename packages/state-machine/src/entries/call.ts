/** Calls: the callee is told by message, its id is known at once (SPEC CAL). */

import type { Invocation, InvocationId, ResponseSink } from '@engine/domain';

import type { CommandEntry } from '../command.js';
import type { Draft } from '../draft.js';
import { appendNotification } from '../journal.js';

type Entry<T extends CommandEntry['type']> = Extract<CommandEntry, { type: T }>;

export function call(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: Entry<'call'> },
): Invocation {
  const slot = {
    callerId: id,
    callerIncarnation: row.incarnation,
    completionId: entry.resultCompletionId,
    type: 'call',
  } as const;
  return start(draft, id, { row, entry, sink: { kind: 'completion', slot } });
}

export function oneWayCall(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: Entry<'one-way-call'> },
): Invocation {
  return start(draft, id, { row, entry, sink: undefined });
}

function start(
  draft: Draft,
  id: InvocationId,
  give: {
    readonly row: Invocation;
    readonly entry: Entry<'call' | 'one-way-call'>;
    readonly sink: ResponseSink | undefined;
  },
): Invocation {
  const { row, entry, sink } = give;
  const source = { kind: 'service', callerId: id, callerTarget: row.target } as const;
  draft.send({ kind: 'invoke', request: { ...entry.callee, source, sink } });
  return appendNotification(draft, id, {
    row,
    notification: {
      type: 'call-invocation-id',
      id: { kind: 'completion', id: entry.invocationIdCompletionId },
      result: { kind: 'invocation-id', id: entry.callee.id },
    },
  });
}
