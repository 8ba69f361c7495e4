/**
 * A step may run again only while nobody knows its result: an attempt that died before its result was durable leaves it open. Once a
 * handler has learned the result it never changes, and no attempt, not even one of an old leader, runs the step again.
 */

import type { Recorded } from '../history/event.js';
import type { Rule, Violation } from './rule.js';
import type { Thaws } from './thaws.js';

export class Steps implements Rule {
  readonly #learned = new Map<string, number>();
  /** Results that closures gave, until one of them is learned. */
  readonly #given = new Map<string, number[]>();
  readonly #seen: Violation[] = [];
  /** Runs of a step beyond its first: allowed, and worth knowing. */
  repeats = 0;
  readonly #thaws: Thaws;

  constructor(thaws: Thaws) {
    this.#thaws = thaws;
  }

  see(entry: Recorded): void {
    if (entry.kind === 'executing') this.#executing(entry);
    if (entry.kind === 'learned') this.#isLearned(entry);
  }

  violations(): Iterable<Violation> {
    return this.#seen;
  }

  #executing(entry: Extract<Recorded, { kind: 'executing' }>): void {
    const { step, value, attempt } = entry;
    if (this.#learned.has(step)) {
      if (this.#thaws.explains(entry)) return;
      const text = `attempt ${attempt} ran ${step} again after its result was known`;
      this.#seen.push({ harm: 'repeated', text });
      return;
    }
    const given = this.#given.get(step) ?? [];
    if (given.length > 0) this.repeats += 1;
    this.#given.set(step, [...given, value]);
  }

  #isLearned({ step, value, attempt }: Extract<Recorded, { kind: 'learned' }>): void {
    const known = this.#learned.get(step);
    if (known === undefined) {
      if (this.#given.get(step)?.includes(value) !== true) {
        const text = `attempt ${attempt} learned ${String(value)} of ${step}, which no run gave`;
        this.#seen.push({ harm: 'changed', text });
      }
      this.#learned.set(step, value);
      this.#given.delete(step);
    } else if (known !== value) {
      const text = `attempt ${attempt} learned ${String(value)} of ${step}, before it was ${String(known)}`;
      this.#seen.push({ harm: 'changed', text });
    }
  }
}
