/** Notifications: what the server appends to a journal, and the trees of them that a handler awaits. */

import type { Failure } from './result.js';

/** Who a notification is for: a completion (id chosen by the SDK) or a signal (by index or name). */
export type NotificationId =
  | { readonly kind: 'completion'; readonly id: number }
  | { readonly kind: 'signal'; readonly index: number }
  | { readonly kind: 'named-signal'; readonly name: string };

/** Kinds of notification; the first eleven complete a command, `signal` stands alone. */
export type NotificationType =
  | 'get-lazy-state'
  | 'get-lazy-state-keys'
  | 'get-promise'
  | 'peek-promise'
  | 'complete-promise'
  | 'sleep'
  | 'call-invocation-id'
  | 'call'
  | 'run'
  | 'attach-invocation'
  | 'get-invocation-output'
  | 'signal';

export type NotificationResult =
  | { readonly kind: 'void' }
  | { readonly kind: 'value'; readonly value: Uint8Array }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'invocation-id'; readonly id: string }
  | { readonly kind: 'state-keys'; readonly keys: readonly string[] };

export const VOID: NotificationResult = { kind: 'void' };

/** Built-in signal that asks a handler to cancel. Indexes 2..16 are reserved, awakeables start at 17. */
export const CANCEL_SIGNAL_INDEX = 1;
export const AWAKEABLE_SIGNAL_INDEX_MIN = 17;

/** Text form of a notification id: unique per invocation, used as a map key and in store keys. */
export function notificationKey(id: NotificationId): string {
  switch (id.kind) {
    case 'completion':
      return `c${String(id.id)}`;
    case 'signal':
      return `s${String(id.index)}`;
    case 'named-signal':
      return `n${id.name}`;
  }
}

/**
 * What a suspended invocation waits for. Protocol v7 sends a tree; older versions send a flat set, which is the
 * tree `unknown(children)`.
 */
export type AwaitTree =
  | { readonly kind: 'single'; readonly id: NotificationId }
  | { readonly kind: AwaitCombinator; readonly children: readonly AwaitTree[] };

export type AwaitCombinator =
  | 'unknown'
  | 'first-completed'
  | 'all-completed'
  | 'first-succeeded-or-all-failed'
  | 'all-succeeded-or-first-failed';
