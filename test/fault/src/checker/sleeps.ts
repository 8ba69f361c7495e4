/** Nobody wakes early and no delayed send comes early. A clock that was moved may cost a little, as far as a leader's clock may be off. */

import type { Recorded } from '../history/event.js';
import type { Rule, Violation } from './rule.js';

/** Clocks of processes on one machine are one clock; this is for rounding. */
const ROUNDING_MS = 5;
/** A leader does not lead with a clock that is further off than this (docs/design/leadership.md). */
const CLOCK_OFF_MS = 2_000;

export class Sleeps implements Rule {
  /** Effects that may not be booked before this time, ms since the epoch. */
  readonly #dueTimes = new Map<string, number>();
  readonly #seen: Violation[] = [];
  #clocksMoved = 0;
  /** Until when a moved clock may have an effect, ms since the epoch. */
  #tolerantUntil = 0;

  see(entry: Recorded): void {
    switch (entry.kind) {
      case 'fault':
        if (entry.name.includes('clock')) this.#moved(entry.phase, entry.time);
        break;
      case 'asked': {
        const { id, what } = entry.op;
        if (what.kind === 'send-add') this.#dueTimes.set(id, entry.time + what.delayMs);
        if (what.kind !== 'spread') break;
        for (const index of what.keys.keys()) {
          const delayMs = index === 0 ? 0 : what.delayMs;
          this.#dueTimes.set(`${id}/${String(index)}`, entry.time + delayMs);
        }
        break;
      }
      case 'booked':
        this.#expect(`the delayed ${entry.effect}`, {
          due: this.#dueTimes.get(entry.effect) ?? 0,
          at: entry.time,
        });
        break;
      case 'woke':
        this.#expect(`the sleep of ${entry.op}`, { due: entry.from + entry.ms, at: entry.at });
        break;
      default:
    }
  }

  violations(): Iterable<Violation> {
    return this.#seen;
  }

  #moved(phase: 'struck' | 'healed' | 'recovered', time: number): void {
    if (phase === 'struck') this.#clocksMoved += 1;
    if (phase === 'recovered') {
      this.#clocksMoved -= 1;
      this.#tolerantUntil = time + CLOCK_OFF_MS;
    }
  }

  #expect(what: string, { due, at }: { readonly due: number; readonly at: number }): void {
    const isTolerant = this.#clocksMoved > 0 || at < this.#tolerantUntil;
    const earlyMs = due - at;
    if (earlyMs <= (isTolerant ? CLOCK_OFF_MS : ROUNDING_MS)) return;
    this.#seen.push({ harm: 'early', text: `${what} was over ${String(earlyMs)} ms early` });
  }
}
