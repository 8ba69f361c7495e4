/** The history of a small run in which everything was right, for tests that then do some harm to it. */

import type { HistoryEntry, Recorded } from '../history/event.js';
import { tokenOf, type Operation, type PlannedOperation } from '../plan/operation.js';

const BEGIN_MS = 1_700_000_000_000;
const STEP_MS = 10;

function planned(id: string, what: Operation): PlannedOperation {
  return { id, what, isKeyed: true, repeats: 0 };
}

const asked = (id: string, what: Operation): HistoryEntry => ({
  kind: 'asked',
  op: planned(id, what),
});

function answered(op: string, value: unknown, stage: 'taken' | 'result' | 'repeat' = 'result') {
  return { kind: 'answered', op, stage, value, since: 0 } as const;
}

function booked(book: string, effect: string, [position, amount]: [number, number]): HistoryEntry {
  return { kind: 'booked', book, effect, position, amount, attempt: 'a1' };
}

function step(name: string, value: number): HistoryEntry[] {
  return [
    { kind: 'executing', step: name, value, attempt: 'a1' },
    { kind: 'learned', step: name, value, attempt: 'a1' },
  ];
}

const STORY: readonly HistoryEntry[] = [
  asked('add', { kind: 'add', key: 'k', amount: 5 }),
  booked('Account/k', 'add', [1, 5]),
  answered('add', 1),
  answered('add', 1, 'repeat'),
  asked('send', { kind: 'send-add', key: 'k', amount: 2, delayMs: 0, attaches: false }),
  answered('send', { invocationId: 'inv_1' }, 'taken'),
  booked('Account/k', 'send', [2, 2]),
  asked('slow', { kind: 'slow-add', key: 'k', amount: 1, ms: 20 }),
  { kind: 'entered', book: 'Account/k', effect: 'slow', position: 3, amount: 1, attempt: 'a1' },
  ...step('slow/held', 3),
  booked('Account/k', 'slow', [3, 1]),
  answered('slow', 3),
  asked('read', { kind: 'read', key: 'k' }),
  answered('read', { count: 3, total: 8 }),
  asked('late', { kind: 'send-add', key: 'late', amount: 7, delayMs: 50, attaches: false }),
  answered('late', { invocationId: 'inv_2' }, 'taken'),
  asked('move', { kind: 'transfer', from: 'a', to: 'b', amount: 4, isOneWay: true }),
  booked('Bank/a', 'move/from', [1, -4]),
  answered('move', 'moved'),
  booked('Bank/b', 'move/to', [1, 4]),
  asked('steps', { kind: 'steps', count: 2, key: 'r', isFlaky: false }),
  { kind: 'executing', step: 'steps/0', value: 10, attempt: 'a1' },
  ...step('steps/0', 11),
  booked('Receipts/r', 'steps/0', [1, 11]),
  ...step('steps/1', 12),
  booked('Receipts/r', 'steps/1', [2, 12]),
  answered('steps', [11, 12]),
  asked('nap', { kind: 'nap', ms: 30 }),
  { kind: 'woke', op: 'nap', from: BEGIN_MS, ms: 30, at: BEGIN_MS + 31 },
  answered('nap', 'slept'),
  asked('wait', { kind: 'wait' }),
  { kind: 'awaits', op: 'wait', awakeable: 'sign_1' },
  { kind: 'woken', op: 'wait', token: tokenOf('wait') },
  answered('wait', tokenOf('wait')),
  asked('order', { kind: 'order', key: 'r' }),
  answered('order', { invocationId: 'inv_3' }, 'taken'),
  ...step('order/paid', 13),
  booked('Receipts/r', 'order/paid', [3, 13]),
  answered('order', tokenOf('order')),
  asked('spread', { kind: 'spread', keys: ['x', 'y'], amount: 6, delayMs: 10 }),
  answered('spread', 2),
  booked('Account/x', 'spread/0', [1, 6]),
  booked('Account/y', 'spread/1', [1, 6]),
  booked('Account/late', 'late', [1, 7]),
  asked('lost answer', { kind: 'add', key: 'z', amount: 1 }),
  { kind: 'unknown', op: 'lost answer', reason: 'ECONNRESET' },
  { kind: 'quiet' },
  { kind: 'final', book: 'Account/k', count: 3, total: 8 },
  { kind: 'final', book: 'Account/late', count: 1, total: 7 },
  { kind: 'final', book: 'Account/x', count: 1, total: 6 },
  { kind: 'final', book: 'Account/y', count: 1, total: 6 },
  { kind: 'final', book: 'Bank/a', count: 1, total: -4 },
  { kind: 'final', book: 'Bank/b', count: 1, total: 4 },
  { kind: 'final', book: 'Receipts/r', count: 3, total: 36 },
];

/** Each entry 10 ms after the one before; answers came at once. */
export function goodHistory(): Recorded[] {
  return STORY.map((entry, index) => {
    const time = BEGIN_MS + index * STEP_MS;
    return entry.kind === 'answered' ? { ...entry, since: time, time } : { ...entry, time };
  });
}
