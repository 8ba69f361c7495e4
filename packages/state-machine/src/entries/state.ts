/** State of objects and workflows: written when the command is stored, whatever becomes of the handler (SPEC STA). */

import type { Invocation, InvocationId, StateDirectoryEntry } from '@engine/domain';
import { readsState, VOID, writesState } from '@engine/domain';

import type { CommandEntry } from '../command.js';
import type { Draft } from '../draft.js';
import { appendNotification } from '../journal.js';

type Entry<T extends CommandEntry['type']> = Extract<CommandEntry, { type: T }>;

export function getState(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: Entry<'get-lazy-state'> },
): Invocation {
  const { service, key = '' } = row.target;
  const value = readsState(row.target.kind) ? draft.state(service, key, entry.key) : undefined;
  return appendNotification(draft, id, {
    row,
    notification: {
      type: 'get-lazy-state',
      id: { kind: 'completion', id: entry.completionId },
      result: value === undefined ? VOID : { kind: 'value', value },
    },
  });
}

export function getStateKeys(
  draft: Draft,
  id: InvocationId,
  { row, entry }: { readonly row: Invocation; readonly entry: Entry<'get-lazy-state-keys'> },
): Invocation {
  const { service, key = '' } = row.target;
  const keys = (draft.stateDirectory(service, key)?.entries ?? []).map((known) => known.key);
  return appendNotification(draft, id, {
    row,
    notification: {
      type: 'get-lazy-state-keys',
      id: { kind: 'completion', id: entry.completionId },
      result: { kind: 'state-keys', keys },
    },
  });
}

export function setState(draft: Draft, row: Invocation, entry: Entry<'set-state'>): Invocation {
  if (!writesState(row.target.kind)) return row;
  const { service, key = '' } = row.target;
  draft.putState({ service, key, stateKey: entry.key }, entry.value);
  const entries = draft.stateDirectory(service, key)?.entries ?? [];
  const sizeBytes = entry.value.byteLength;
  const place = placeOf(entries, entry.key);
  const known = entries[place];
  if (known?.key !== entry.key) {
    const grown = entries.toSpliced(place, 0, { key: entry.key, sizeBytes });
    draft.putStateDirectory(service, key, { entries: grown });
  } else if (known.sizeBytes !== sizeBytes) {
    const resized = entries.with(place, { key: entry.key, sizeBytes });
    draft.putStateDirectory(service, key, { entries: resized });
  }
  return row;
}

export function clearState(draft: Draft, row: Invocation, entry: Entry<'clear-state'>): Invocation {
  if (!writesState(row.target.kind)) return row;
  const { service, key = '' } = row.target;
  const entries = draft.stateDirectory(service, key)?.entries ?? [];
  const place = placeOf(entries, entry.key);
  if (entries[place]?.key !== entry.key) return row;
  draft.putState({ service, key, stateKey: entry.key }, undefined);
  const left = entries.toSpliced(place, 1);
  draft.putStateDirectory(service, key, left.length === 0 ? undefined : { entries: left });
  return row;
}

export function clearAllState(draft: Draft, row: Invocation): Invocation {
  if (!writesState(row.target.kind)) return row;
  const { service, key = '' } = row.target;
  for (const { key: stateKey } of draft.stateDirectory(service, key)?.entries ?? []) {
    draft.putState({ service, key, stateKey }, undefined);
  }
  draft.putStateDirectory(service, key, undefined);
  return row;
}

/** Index of a state key in the sorted directory, or where it would stand. */
function placeOf(entries: readonly StateDirectoryEntry[], key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && entry.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
