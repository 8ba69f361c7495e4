/** What goes into an attempt and what comes out of it. The driver owns sockets and timers, the machine owns the rules. */

import type {
  AttemptFailure,
  AwaitTree,
  InvocationId,
  InvocationTarget,
  JournalEntry,
  Result,
} from '@engine/domain';
import type { HandlerCommand } from '@engine/service-protocol';

/** `bidi`: notifications flow while the attempt runs. `request-response`: the request closes after the replay. */
export type AttemptMode = 'bidi' | 'request-response';

export interface AttemptStart {
  readonly invocationId: InvocationId;
  readonly target: InvocationTarget;
  /** 5, 6 or 7. */
  readonly protocolVersion: number;
  readonly mode: AttemptMode;
  /** Every stored entry, index 0 first. */
  readonly journal: readonly JournalEntry[];
  /** Eager state; `complete` false = the handler must ask for keys it does not find. */
  readonly state: {
    readonly entries: readonly (readonly [key: string, value: Uint8Array])[];
    readonly complete: boolean;
  };
  readonly randomSeed: bigint;
  readonly retryCountSinceLastCommand: number;
  readonly durationSinceLastEntryMs: number;
  readonly messageSizeBytesMax: number;
}

export type AttemptInput =
  /** The head of the response came. `headers` are lower case. */
  | {
      readonly kind: 'response-head';
      readonly status: number;
      readonly contentType: string | undefined;
      readonly retryAfter: string | undefined;
      /** Needed to read a date in `retryAfter`; ms since the epoch. */
      readonly now: number;
    }
  | { readonly kind: 'response-data'; readonly chunk: Uint8Array }
  | { readonly kind: 'response-end' }
  /** The connection could not be made or broke; `message` is for people. */
  | { readonly kind: 'transport-error'; readonly message: string }
  /** A notification is durable at `index`. */
  | {
      readonly kind: 'notification-stored';
      readonly index: number;
      readonly entry: Extract<JournalEntry, { kind: 'notification' }>;
    }
  /** A command that asked for it is durable. */
  | { readonly kind: 'command-stored'; readonly commandIndex: number }
  /** The leader refuses the command that the machine last gave out: the attempt fails with this. */
  | { readonly kind: 'command-refused'; readonly failure: AttemptFailure }
  | { readonly kind: 'inactivity-timeout' }
  | { readonly kind: 'abort-timeout' };

export type AttemptOutput =
  /** Write these bytes to the request body. */
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  /** End the request body (after all writes before it). */
  | { readonly kind: 'close-request' }
  /** The handler sent a command. */
  | {
      readonly kind: 'command';
      readonly command: HandlerCommand;
      /** Index among the commands of the journal, input = 0. */
      readonly commandIndex: number;
      readonly ackRequested: boolean;
    }
  | { readonly kind: 'run-completion'; readonly completionId: number; readonly result: Result }
  /** The handler said what it waits for (protocol v7); for introspection only. */
  | { readonly kind: 'awaiting'; readonly awaitingOn: AwaitTree }
  /** Exactly one of the next three ends the attempt; nothing but `close-request` follows it. */
  | { readonly kind: 'suspended'; readonly awaitingOn: AwaitTree; readonly knownEntries: number }
  | { readonly kind: 'ended' }
  | {
      readonly kind: 'failed';
      readonly failure: AttemptFailure;
      readonly behavior: 'retry' | 'pause' | 'fail';
      readonly retryDelayMs: number | undefined;
      /** False when the deployment refused before its handler ran. */
      readonly reachedHandler: boolean;
    };
