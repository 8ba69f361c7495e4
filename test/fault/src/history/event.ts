/**
 * What a run saw, in the order in which the process of the test saw it. Handlers wait until their entry is in the history, so an
 * entry that stands before another one happened before it ended.
 */

import type { PlannedOperation } from '../plan/operation.js';

/** What handlers tell, each time their code runs: attempts repeat it. `attempt` is chance, new with each attempt. */
export type LedgerEntry =
  /** A book is about to hold an entry: at this position, and it holds the object until then. */
  | {
      readonly kind: 'entered' | 'booked';
      readonly book: string;
      readonly effect: string;
      readonly position: number;
      readonly amount: number;
      readonly attempt: string;
    }
  /** The closure of a step runs and gives `value`. */
  | {
      readonly kind: 'executing';
      readonly step: string;
      readonly value: number;
      readonly attempt: string;
    }
  /** The step is over for the handler: its result is durable. */
  | {
      readonly kind: 'learned';
      readonly step: string;
      readonly value: number;
      readonly attempt: string;
    }
  /** On the clock of the handlers' process, ms since the epoch. `from` was kept by a step. */
  | {
      readonly kind: 'woke';
      readonly op: string;
      readonly from: number;
      readonly ms: number;
      readonly at: number;
    }
  | { readonly kind: 'awaits'; readonly op: string; readonly awakeable: string }
  | { readonly kind: 'woken'; readonly op: string; readonly token: string };

export type CallerEntry =
  /** Before the first request of the operation leaves. */
  | { readonly kind: 'asked'; readonly op: PlannedOperation }
  /** A request failed; the operation may go on with another one. `url`: the ingress. */
  | {
      readonly kind: 'failed';
      readonly op: string;
      readonly url: string;
      readonly reason: string;
      readonly tookMs: number;
    }
  /** The operation was acknowledged; for sends that the engine has taken it, else with its result. */
  | {
      readonly kind: 'answered';
      readonly op: string;
      readonly stage: AnswerStage;
      readonly value: unknown;
      /** When the request left that brought the answer, ms since the epoch. */
      readonly since: number;
    }
  /** Nobody knows whether the operation was accepted: it was sent without key, and its answer was lost. */
  | { readonly kind: 'unknown'; readonly op: string; readonly reason: string }
  /** An answer that no operation of the plan may get. */
  | {
      readonly kind: 'refused';
      readonly op: string;
      readonly status: number;
      readonly body: string;
    }
  /** Not acknowledged for so long that the caller gave up. */
  | { readonly kind: 'given-up'; readonly op: string };

/** `taken`: 202. `result`: the first result. `repeat`: the same key once more, or an attach. */
export type AnswerStage = 'taken' | 'result' | 'repeat';

export type RunEntry =
  | {
      readonly kind: 'fault';
      readonly number: number;
      readonly name: string;
      readonly phase: 'struck' | 'healed' | 'recovered';
      readonly what: string;
    }
  /** Callers have stopped; nothing is left running. */
  | { readonly kind: 'quiet' }
  /** Still not ended when everything should have been. */
  | { readonly kind: 'leftover'; readonly invocation: string; readonly what: string }
  /** What a book holds in the end. */
  | {
      readonly kind: 'final';
      readonly book: string;
      readonly count: number;
      readonly total: number;
    };

export type HistoryEntry = LedgerEntry | CallerEntry | RunEntry;

/** `time`: ms since the epoch on the clock of the test. */
export type Recorded = HistoryEntry & { readonly time: number };
