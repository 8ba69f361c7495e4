/** Timers: rows ordered by due time. The order of the kinds breaks ties and is part of the key. */

import type { InvocationId } from './ids/index.js';

/**
 * `start` a delayed invocation becomes due · `sleep` a sleep ends · `retry` a failed attempt is tried again ·
 * `purge-journal`, `purge` retention ends.
 */
export type TimerKind = 'start' | 'sleep' | 'retry' | 'purge-journal' | 'purge';

/** Rank in the timer key. Numbers retire, they never return. */
export const TIMER_RANK: Readonly<Record<TimerKind, number>> = {
  start: 1,
  sleep: 2,
  retry: 3,
  'purge-journal': 4,
  purge: 5,
};

export interface TimerKey {
  /** Due time, ms since the epoch. */
  readonly dueAt: number;
  readonly kind: TimerKind;
  readonly invocationId: InvocationId;
  /** Completion id of a sleep; 0 for the others. */
  readonly index: number;
}

export interface Timer {
  /** Incarnation of the invocation that set the timer; a timer of another incarnation is dropped. */
  readonly incarnation: number;
}

/** Total order of timers: due time, rank, invocation id, index. */
export function compareTimerKeys(a: TimerKey, b: TimerKey): number {
  if (a.dueAt !== b.dueAt) return a.dueAt - b.dueAt;
  if (a.kind !== b.kind) return TIMER_RANK[a.kind] - TIMER_RANK[b.kind];
  if (a.invocationId !== b.invocationId) return a.invocationId < b.invocationId ? -1 : 1;
  return a.index - b.index;
}
