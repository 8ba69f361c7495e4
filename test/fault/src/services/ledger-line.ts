/** The line to the process that keeps the history: what is told stands there when the promise resolves. */

import { randomUUID } from 'node:crypto';

import type { LedgerEntry } from '../history/event.js';

const waiting = new Map<number, () => void>();
let last = 0;

process.on('message', (number: number) => {
  waiting.get(number)?.();
  waiting.delete(number);
});
// The channel closes when the test is gone, however it went.
process.on('disconnect', () => {
  process.exit();
});

export function tell(entry: LedgerEntry): Promise<void> {
  last += 1;
  const number = last;
  return new Promise((resolve) => {
    waiting.set(number, resolve);
    process.send?.({ number, entry });
  });
}

/** A name for one attempt: chance that no journal knows. */
export function attemptName(): string {
  return randomUUID().slice(0, 8);
}

/** Tells the test that the services listen. */
export function listening(): void {
  process.send?.({ number: 0 });
}
