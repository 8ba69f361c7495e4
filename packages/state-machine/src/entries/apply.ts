/** The one switch over journal commands: what storing each of them brings about (SPEC JRN-3). */

import type { Invocation, InvocationId } from '@engine/domain';
import { VOID } from '@engine/domain';
import { assertNever } from '@engine/stdx';

import type { CommandEntry } from '../command.js';
import type { Draft } from '../draft.js';
import { appendCommand, appendNotification } from '../journal.js';
import { attach } from './attach.js';
import { call, oneWayCall } from './call.js';
import { completePromise, getPromise, peekPromise } from './promise.js';
import { clearAllState, clearState, getState, getStateKeys, setState } from './state.js';

/**
 * Appends a command and applies its effect. Effects see the entry as stored; completions that are known at once are appended
 * right behind it. Returns the row; the caller puts it.
 */
export function applyEntry(
  draft: Draft,
  id: InvocationId,
  apply: { readonly row: Invocation; readonly entry: CommandEntry },
): Invocation {
  const { entry } = apply;
  const row = store(draft, id, apply);
  switch (entry.type) {
    case 'output':
    case 'run':
    case 'get-eager-state':
    case 'get-eager-state-keys':
      return row;
    case 'get-lazy-state':
      return getState(draft, id, { row, entry });
    case 'get-lazy-state-keys':
      return getStateKeys(draft, id, { row, entry });
    case 'set-state':
      return setState(draft, row, entry);
    case 'clear-state':
      return clearState(draft, row, entry);
    case 'clear-all-state':
      return clearAllState(draft, row);
    case 'get-promise':
      return getPromise(draft, id, { row, entry });
    case 'peek-promise':
      return peekPromise(draft, id, { row, entry });
    case 'complete-promise':
      return completePromise(draft, id, { row, entry });
    case 'sleep':
      return sleep(draft, id, { row, entry });
    case 'call':
      return call(draft, id, { row, entry });
    case 'one-way-call':
      return oneWayCall(draft, id, { row, entry });
    case 'send-signal':
    case 'complete-awakeable':
      draft.send({
        kind: 'signal',
        invocationId: entry.target,
        id: entry.signal,
        result: entry.result,
      });
      return row;
    case 'attach-invocation':
    case 'get-invocation-output':
      return attach(draft, id, { row, entry });
    default:
      return assertNever(entry);
  }
}

function store(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: CommandEntry },
): Invocation {
  const appendedAt = draft.at;
  if (entry.type === 'output') {
    const { name, result } = entry;
    return appendCommand(draft, id, { row, entry: { kind: 'output', name, result, appendedAt } });
  }
  const { type, name, raw } = entry;
  const isCall = entry.type === 'call' || entry.type === 'one-way-call';
  return appendCommand(draft, id, {
    row,
    entry: {
      kind: 'command',
      type,
      name,
      raw,
      callee: isCall ? entry.callee.id : undefined,
      completionId: completionOf(entry),
      invocationIdCompletionId: isCall ? entry.invocationIdCompletionId : undefined,
      appendedAt,
    },
  });
}

/** The completion that a command waits for, beside the id of a callee. */
function completionOf(entry: CommandEntry): number | undefined {
  if (entry.type === 'call') return entry.resultCompletionId;
  return 'completionId' in entry ? entry.completionId : undefined;
}

function sleep(
  draft: Draft,
  id: InvocationId,
  {
    row,
    entry,
  }: { readonly row: Invocation; readonly entry: Extract<CommandEntry, { type: 'sleep' }> },
): Invocation {
  if (entry.wakeUpTime <= draft.at) {
    return appendNotification(draft, id, {
      row,
      notification: {
        type: 'sleep',
        id: { kind: 'completion', id: entry.completionId },
        result: VOID,
      },
    });
  }
  const key = {
    dueAt: entry.wakeUpTime,
    kind: 'sleep',
    invocationId: id,
    index: entry.completionId,
  } as const;
  draft.setTimer(key, row.incarnation);
  return row;
}
