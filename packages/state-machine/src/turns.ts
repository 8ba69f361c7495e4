/** Turns on an object key: one holder, the others in order of arrival (SPEC OBJ). */

import type { Invocation, InvocationId, InvocationTarget } from '@engine/domain';
import { limits } from '@engine/domain';

import type { Draft } from './draft.js';

export type Turn =
  | { readonly kind: 'now' }
  | { readonly kind: 'later'; readonly sequence: number }
  | { readonly kind: 'full' };

/** Takes the lock of the target's key, or a place in its inbox. */
export function takeTurn(draft: Draft, id: InvocationId, target: InvocationTarget): Turn {
  const { service, key = '' } = target;
  const lock = draft.objectLock(service, key);
  if (lock === undefined) {
    draft.putObjectLock(service, key, { holder: id, inboxHead: 0, inboxTail: 0 });
    return { kind: 'now' };
  }
  if (lock.inboxTail - lock.inboxHead >= limits.INBOX_LENGTH_MAX) return { kind: 'full' };
  const sequence = lock.inboxTail;
  draft.putInboxEntry({ service, key, sequence }, { invocationId: id });
  draft.putObjectLock(service, key, { ...lock, inboxTail: sequence + 1 });
  return { kind: 'later', sequence };
}

/**
 * Passes the lock on to the first in the inbox, or frees the key.
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
  for (let sequence = lock.inboxHead; sequence < lock.inboxTail; sequence += 1) {
    const entry = draft.inboxEntry(service, key, sequence);
    if (entry === undefined) continue; // A cancelled place.
    draft.putInboxEntry({ service, key, sequence }, undefined);
    const row = draft.invocation(entry.invocationId);
    if (row?.status !== 'inboxed' || row.inboxSequence !== sequence) continue;
    const holder = entry.invocationId;
    draft.putObjectLock(service, key, { ...lock, holder, inboxHead: sequence + 1 });
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
