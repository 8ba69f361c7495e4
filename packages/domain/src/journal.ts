/** The journal: everything one invocation did and learned, in the order in which it was stored. */

import type { InvocationId } from './ids/index.js';
import type { NotificationId, NotificationResult, NotificationType } from './notification.js';
import type { Result } from './result.js';

export interface Header {
  readonly key: string;
  readonly value: string;
}

/** Commands that are stored as the bytes that the SDK sent and replayed verbatim. */
export type CommandType =
  | 'get-lazy-state'
  | 'set-state'
  | 'clear-state'
  | 'clear-all-state'
  | 'get-lazy-state-keys'
  | 'get-eager-state'
  | 'get-eager-state-keys'
  | 'get-promise'
  | 'peek-promise'
  | 'complete-promise'
  | 'sleep'
  | 'call'
  | 'one-way-call'
  | 'send-signal'
  | 'run'
  | 'attach-invocation'
  | 'get-invocation-output'
  | 'complete-awakeable';

/**
 * One stored journal entry. Entries are dense (index 0 is the input) and never change. `input`, `output` and `command`
 * count as commands; `notification` does not.
 */
export type JournalEntry =
  | {
      readonly kind: 'input';
      readonly headers: readonly Header[];
      readonly payload: Uint8Array;
      /** Record time in ms since the epoch. */
      readonly appendedAt: number;
    }
  | {
      readonly kind: 'output';
      readonly name: string;
      readonly result: Result;
      readonly appendedAt: number;
    }
  | {
      readonly kind: 'command';
      readonly type: CommandType;
      readonly name: string;
      /** Message bytes as received, without the frame header. */
      readonly raw: Uint8Array;
      /** Set for `call` and `one-way-call`: whom the command started. */
      readonly callee?: InvocationId | undefined;
      /** Completion that the command waits for; undefined for those that wait for none. */
      readonly completionId?: number | undefined;
      /** Completion that tells a caller the id of the callee; set for `call` and `one-way-call`. */
      readonly invocationIdCompletionId?: number | undefined;
      readonly appendedAt: number;
    }
  | {
      readonly kind: 'notification';
      readonly type: NotificationType;
      readonly id: NotificationId;
      readonly result: NotificationResult;
      readonly appendedAt: number;
    };

/** Where a notification of one id stands in the journal, and whether it succeeded. */
export interface NotificationIndexEntry {
  /** Index of the first entry with this id. */
  readonly firstIndex: number;
  /** Index of the last one; differs from the first only for signals that may arrive repeatedly. */
  readonly lastIndex: number;
  readonly succeeded: boolean;
}
