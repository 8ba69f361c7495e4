/** The verdict on a history. */

import type { Recorded } from '../history/event.js';
import { Answers } from './answers.js';
import { Bookings } from './bookings.js';
import { Ends } from './ends.js';
import { Order } from './order.js';
import type { Violation } from './rule.js';
import { Sleeps } from './sleeps.js';
import { Steps } from './steps.js';
import { Thaws } from './thaws.js';

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly counts: {
    /** Operations that callers began. */
    readonly asked: number;
    readonly acknowledged: number;
    /** Sent without a key, and the answer lost: done or not done. */
    readonly unknown: number;
    /** Requests that failed, of whatever operation. */
    readonly failedRequests: number;
    readonly bookings: number;
    /** Runs of a step beyond its first, before its result was known. */
    readonly stepRepeats: number;
    /** Calls repeated by a process that was frozen in the middle of a turn. */
    readonly overlaps: number;
  };
}

export async function check(
  history: Iterable<Recorded> | AsyncIterable<Recorded>,
): Promise<Verdict> {
  const thaws = new Thaws();
  const steps = new Steps(thaws);
  const bookings = new Bookings();
  const rules = [bookings, new Order(thaws), steps, new Answers(), new Sleeps(), new Ends()];
  const counts = { asked: 0, unknown: 0, failedRequests: 0, bookings: 0 };
  for await (const entry of history) {
    thaws.see(entry);
    for (const rule of rules) rule.see(entry);
    if (entry.kind === 'asked') counts.asked += 1;
    if (entry.kind === 'unknown') counts.unknown += 1;
    if (entry.kind === 'failed') counts.failedRequests += 1;
    if (entry.kind === 'booked') counts.bookings += 1;
  }
  const violations = rules.flatMap((rule) => [...rule.violations()]);
  const acknowledged = bookings.acknowledgedCount;
  const { overlaps } = thaws;
  return {
    violations,
    counts: { ...counts, acknowledged, stepRepeats: steps.repeats, overlaps },
  };
}
