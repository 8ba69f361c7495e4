/** Turns on an object key: one holder, the others in order of arrival (SPEC OBJ). */

import type { Invocation, InvocationId, InvocationTarget, StateReplacement } from '@engine/domain';
import { limits } from '@engine/domain';

import type { Draft } from './draft.js';
import { replaceState } from './replace-state.js';

export type Turn =
  | { readonly kind: 'now' }
  | { readonly kind: 'later'; readonly sequence: number }
  | { readonly kind: 'full' };

/** Takes the lock of the target's key, or a place in its inbox. */
export function takeTurn(draft: Draft, id: InvocationId, target: InvocationTarget): Turn {
  const { service, key = '' } = target;
  const lock = draft.objectLock(service, key);
  if (lock === undefined) {
    draft.putObjectLock(service, key, { holder: id, inboxHead: 0, inboxTail: 0, replacements: 0 });
    return { kind: 'now' };
  }
  if (lock.inboxTail - lock.inboxHead >= limits.INBOX_LENGTH_MAX) return { kind: 'full' };
  const sequence = lock.inboxTail;
  const entry = { kind: 'invocation', invocationId: id } as const;
  draft.putInboxEntry({ service, key, sequence }, entry);
  draft.putObjectLock(service, key, { ...lock, inboxTail: sequence + 1 });
  return { kind: 'later', sequence };
}

/** Writes a new state of a key, at once when nobody holds it, else in its turn among those who wait (SPEC OBJ-3). */
export function replaceInTurn(
  draft: Draft,
  place: { readonly service: string; readonly key: string },
  replacement: StateReplacement,
): 'now' | 'later' | 'full' {
  const { service, key } = place;
  const lock = draft.objectLock(service, key);
  if (lock === undefined) {
    replaceState(draft, place, replacement);
    return 'now';
  }
  const { inboxHead, inboxTail: sequence, replacements } = lock;
  if (sequence - inboxHead >= limits.INBOX_LENGTH_MAX) return 'full';
  if (replacements >= limits.INBOX_REPLACEMENTS_MAX) return 'full';
  draft.putInboxEntry({ service, key, sequence }, { kind: 'state-replacement', replacement });
  const longer = { ...lock, inboxTail: sequence + 1, replacements: replacements + 1 };
  draft.putObjectLock(service, key, longer);
  return 'later';
}

/** True when an exclusive invocation would find no place in the inbox of its key. */
export function isInboxFull(draft: Draft, { service, key = '' }: InvocationTarget): boolean {
  const lock = draft.objectLock(service, key);
  return lock !== undefined && lock.inboxTail - lock.inboxHead >= limits.INBOX_LENGTH_MAX;
}

/**
 * Passes the lock on to the first in the inbox, or frees the key. New states that wait before it are written on the way.
 *
 * @returns whose turn it is now; the caller starts it
 */
export function handOverLock(
  draft: Draft,
  id: InvocationId,
  target: InvocationTarget,
): { readonly id: InvocationId; readonly row: Invocation } | undefined {
  const { service, key = '' } = target;
  const lock = draft.objectLock(service, key);
  if (lock?.holder !== id) return undefined;
  let { replacements } = lock;
  for (let sequence = lock.inboxHead; sequence < lock.inboxTail; sequence += 1) {
    const entry = draft.inboxEntry(service, key, sequence);
    if (entry === undefined) continue; // A cancelled place.
    draft.putInboxEntry({ service, key, sequence }, undefined);
    if (entry.kind === 'state-replacement') {
      replaceState(draft, { service, key }, entry.replacement);
      replacements -= 1;
      continue;
    }
    const row = draft.invocation(entry.invocationId);
    if (row?.status !== 'inboxed' || row.inboxSequence !== sequence) continue;
    const holder = entry.invocationId;
    draft.putObjectLock(service, key, { ...lock, holder, inboxHead: sequence + 1, replacements });
    return { id: holder, row: { ...row, inboxSequence: undefined } };
  }
  draft.putObjectLock(service, key, undefined);
  return undefined;
}

/** Gives up a place in the inbox. The hole is skipped when its turn comes. */
export function removeFromInbox(draft: Draft, target: InvocationTarget, sequence: number): void {
  const { service, key = '' } = target;
  draft.putInboxEntry({ service, key, sequence }, undefined);
}
