/**
 * Exactly once: what was acknowledged is booked, once, with the right amount; what was not acknowledged is booked wholly or not at
 * all; nothing else is booked; and what the books hold in the end is the sum of it.
 */

import type { Recorded } from '../history/event.js';
import { effectsOf, type Effect, type PlannedOperation } from '../plan/operation.js';
import type { Rule, Violation } from './rule.js';

interface Booking {
  readonly book: string;
  readonly position: number;
  readonly amount: number;
}

export class Bookings implements Rule {
  readonly #asked = new Map<string, PlannedOperation>();
  readonly #acknowledged = new Set<string>();
  readonly #bookings = new Map<string, Booking>();
  /** Effect at each position of each book. */
  readonly #books = new Map<string, Map<number, string>>();
  readonly #finals = new Map<string, { readonly count: number; readonly total: number }>();
  readonly #learned = new Map<string, number>();
  readonly #seen: Violation[] = [];

  /** Operations that were acknowledged so far. */
  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  see(entry: Recorded): void {
    switch (entry.kind) {
      case 'asked':
        this.#asked.set(entry.op.id, entry.op);
        break;
      case 'answered':
        this.#acknowledged.add(entry.op);
        break;
      case 'learned':
        this.#learned.set(entry.step, entry.value);
        break;
      case 'booked':
        this.#book(entry.effect, entry);
        break;
      case 'final':
        this.#finals.set(entry.book, entry);
        break;
      default:
    }
  }

  *violations(): Iterable<Violation> {
    yield* this.#seen;
    const known = new Set<string>();
    for (const op of this.#asked.values()) {
      const effects = effectsOf(op);
      for (const { id } of effects) known.add(id);
      yield* this.#operation(op, effects);
    }
    for (const effect of this.#bookings.keys()) {
      if (!known.has(effect)) yield { harm: 'phantom', text: `nobody asked for ${effect}` };
    }
    for (const [book, entries] of this.#books) yield* this.#contents(book, entries);
    for (const book of this.#finals.keys()) {
      if (!this.#books.has(book)) yield* this.#contents(book, new Map());
    }
    yield* this.#bank();
  }

  #book(effect: string, booking: Booking): void {
    const { book, position, amount } = booking;
    const known = this.#bookings.get(effect);
    if (known === undefined) {
      this.#bookings.set(effect, booking);
    } else if (known.book !== book || known.position !== position) {
      const places = `${known.book} ${String(known.position)} and ${book} ${String(position)}`;
      this.#seen.push({ harm: 'doubled', text: `${effect} is booked at ${places}` });
    } else if (known.amount !== amount) {
      const amounts = `${String(known.amount)}, then ${String(amount)}`;
      this.#seen.push({ harm: 'changed', text: `${effect} is booked with ${amounts}` });
    }
    const entries = this.#books.get(book) ?? new Map<number, string>();
    this.#books.set(book, entries);
    const there = entries.get(position) ?? effect;
    if (there !== effect) {
      const text = `${book} ${String(position)} holds ${there} and ${effect}`;
      this.#seen.push({ harm: 'lost', text });
    }
    entries.set(position, effect);
  }

  *#operation(op: PlannedOperation, effects: readonly Effect[]): Iterable<Violation> {
    const isAcknowledged = this.#acknowledged.has(op.id);
    const missing = effects.filter(({ id }) => !this.#bookings.has(id));
    if (isAcknowledged) {
      for (const { id, book } of missing) {
        yield { harm: 'lost', text: `${id} (${op.what.kind}) was acknowledged, ${book} lacks it` };
      }
    } else if (missing.length > 0 && missing.length < effects.length) {
      const ids = missing.map(({ id }) => id).join(' ');
      yield { harm: 'torn', text: `${op.id} (${op.what.kind}) was half done, without ${ids}` };
    }
    for (const effect of effects) yield* this.#amount(effect);
  }

  *#amount({ id, book, amount }: Effect): Iterable<Violation> {
    const booking = this.#bookings.get(id);
    if (booking === undefined) return;
    const expected = amount ?? this.#learned.get(id);
    if (booking.amount === expected && booking.book === book) return;
    const found = `${String(booking.amount)} in ${booking.book}`;
    yield { harm: 'changed', text: `${id}: ${found} instead of ${String(expected)} in ${book}` };
  }

  *#contents(book: string, entries: ReadonlyMap<number, string>): Iterable<Violation> {
    const final = this.#finals.get(book);
    if (final === undefined) {
      yield { harm: 'stuck', text: `nobody could read ${book} in the end` };
      return;
    }
    for (let position = 1; position <= final.count; position += 1) {
      if (entries.has(position)) continue;
      yield { harm: 'phantom', text: `${book} ${String(position)} holds what nobody told of` };
    }
    if (entries.size > final.count) {
      const counts = `${String(entries.size)} entries, it holds ${String(final.count)}`;
      yield { harm: 'lost', text: `${book} was told ${counts}` };
    }
    let total = 0;
    for (const effect of entries.values()) total += this.#bookings.get(effect)?.amount ?? 0;
    if (total === final.total) return;
    yield { harm: 'changed', text: `${book} is ${String(final.total)}, not ${String(total)}` };
  }

  /** Transfers move, they make nothing. */
  *#bank(): Iterable<Violation> {
    let sum = 0;
    for (const [book, { total }] of this.#finals) if (book.startsWith('Bank/')) sum += total;
    if (sum !== 0) yield { harm: 'changed', text: `transfers made ${String(sum)}` };
  }
}
