/** Per-key rows of virtual objects and workflows: the lock with its inbox, the state directory, promises. */

import type { InvocationId } from './ids/index.js';
import type { CompletionSlot } from './invocation.js';
import type { Result } from './result.js';

/**
 * Lock and inbox of one object key. The row exists while the lock is held.
 * Invariant: inbox rows stand at `inboxHead` ≤ sequence < `inboxTail`; cancelled ones leave holes.
 */
export interface ObjectLock {
  readonly holder: InvocationId;
  readonly inboxHead: number;
  readonly inboxTail: number;
  /** How many of the places in the inbox are replacements of the state. */
  readonly replacements: number;
}

/** One waiting place in the inbox of an object key: somebody who takes the lock, or a new state that is written in passing. */
export type InboxEntry =
  | { readonly kind: 'invocation'; readonly invocationId: InvocationId }
  | { readonly kind: 'state-replacement'; readonly replacement: StateReplacement };

/** The whole new state of a key. */
export interface StateReplacement {
  /** Version of the state that is meant to be replaced; on another one nothing changes. Undefined = any. */
  readonly expectedVersion: string | undefined;
  /** Of entries with the same key the last one counts. */
  readonly entries: readonly StateEntry[];
}

export interface StateEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

/** Directory of the state of one key: all state keys, sorted, with the size of each value in bytes. */
export interface StateDirectory {
  readonly entries: readonly StateDirectoryEntry[];
}

export interface StateDirectoryEntry {
  readonly key: string;
  readonly sizeBytes: number;
}

/** A durable promise of a workflow: completed once, until then a list of waiting completions. */
export type DurablePromise =
  | { readonly kind: 'completed'; readonly result: Result }
  | { readonly kind: 'pending'; readonly listeners: readonly CompletionSlot[] };

/** Directory of the promises of one workflow id, for their removal. */
export interface PromiseDirectory {
  readonly names: readonly string[];
}
