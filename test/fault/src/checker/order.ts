/**
 * Exclusive handlers of an object run one after the other, in the order in which they were accepted: an entry at a position is over
 * before the next one begins, and who was acknowledged before another one asked stands before it. Reads see what was
 * acknowledged before they were asked, and nothing that was not yet booked.
 */

import type { Recorded } from '../history/event.js';
import { bookOf, type PlannedOperation } from '../plan/operation.js';
import type { Rule, Violation } from './rule.js';
import type { Thaws } from './thaws.js';

/** When an operation on one object was asked and acknowledged, ms. */
interface Span {
  readonly book: string;
  readonly op: string;
  readonly askedAt: number;
  acknowledgedAt: number;
  position: number;
}

interface BookState {
  /** Highest position that a handler told of. */
  told: number;
  /** Highest position that was acknowledged or read so far, with the time: ascending. */
  readonly seen: { readonly time: number; readonly count: number }[];
}

export class Order implements Rule {
  readonly #spans = new Map<string, Span>();
  readonly #reads = new Map<string, string>();
  readonly #books = new Map<string, BookState>();
  readonly #seen: Violation[] = [];
  readonly #thaws: Thaws;

  constructor(thaws: Thaws) {
    this.#thaws = thaws;
  }

  see(entry: Recorded): void {
    switch (entry.kind) {
      case 'asked':
        this.#asked(entry.op, entry.time);
        break;
      case 'entered':
      case 'booked':
        this.#told(entry);
        break;
      case 'answered':
        this.#answered(entry);
        break;
      default:
    }
  }

  *violations(): Iterable<Violation> {
    yield* this.#seen;
    const byBook = Map.groupBy(this.#spans.values(), ({ book }) => book);
    for (const [book, spans] of byBook) yield* inOrder(book, spans);
  }

  #asked({ id: op, what }: PlannedOperation, askedAt: number): void {
    switch (what.kind) {
      case 'add':
      case 'slow-add':
      case 'send-add': {
        const isDelayed = what.kind === 'send-add' && what.delayMs > 0;
        if (isDelayed) return;
        const book = bookOf('Account', what.key);
        this.#spans.set(op, { book, op, askedAt, acknowledgedAt: Infinity, position: 0 });
        return;
      }
      case 'read':
        this.#reads.set(op, bookOf('Account', what.key));
        return;
      default:
    }
  }

  #told(entry: Extract<Recorded, { kind: 'entered' | 'booked' }>): void {
    const { book, effect, position } = entry;
    const state = this.#state(book);
    if (position < state.told && !this.#thaws.explains(entry)) {
      const text = `${book}: ${effect} (${String(position)}) runs after position ${String(state.told)} has begun`;
      this.#seen.push({ harm: 'order', text });
    }
    state.told = Math.max(state.told, position);
    const span = this.#spans.get(effect);
    if (span !== undefined) span.position = position;
  }

  #answered(entry: Extract<Recorded, { kind: 'answered' }>): void {
    const { op, time, since, stage, value } = entry;
    const read = this.#reads.get(op);
    if (read !== undefined) {
      this.#read(read, { op, time, since, count: (value as { count: number }).count });
      return;
    }
    const span = this.#spans.get(op);
    if (span === undefined) return;
    span.acknowledgedAt = Math.min(span.acknowledgedAt, time);
    if (stage !== 'taken') note(this.#state(span.book), time, Number(value));
  }

  #read(
    book: string,
    read: {
      readonly op: string;
      readonly time: number;
      readonly since: number;
      readonly count: number;
    },
  ): void {
    const state = this.#state(book);
    const { op, count } = read;
    const before = state.seen.findLast(({ time }) => time < read.since)?.count ?? 0;
    if (count < before) {
      const text = `${op} read ${String(count)} entries of ${book} after ${String(before)} were acknowledged`;
      this.#seen.push({ harm: 'stale', text });
    }
    if (count > state.told) {
      const text = `${op} read ${String(count)} entries of ${book}, ${String(state.told)} were booked`;
      this.#seen.push({ harm: 'phantom', text });
    }
    note(state, read.time, count);
  }

  #state(book: string): BookState {
    const known = this.#books.get(book);
    if (known !== undefined) return known;
    const state = { told: 0, seen: [] };
    this.#books.set(book, state);
    return state;
  }
}

function note({ seen }: BookState, time: number, count: number): void {
  if (count > (seen.at(-1)?.count ?? 0)) seen.push({ time, count });
}

/** Whoever was acknowledged before another one asked has the lower position. */
function* inOrder(book: string, spans: readonly Span[]): Iterable<Violation> {
  let latest: Span | undefined;
  const placed = spans.filter(({ position }) => position > 0);
  for (const span of placed.toSorted((a, b) => a.position - b.position)) {
    if (latest !== undefined && span.acknowledgedAt < latest.askedAt) {
      const places = `${String(latest.position)}, ${span.op} at ${String(span.position)}`;
      const text = `${book}: ${latest.op} stands at ${places}, which was acknowledged before the other asked`;
      yield { harm: 'order', text };
    }
    if (latest === undefined || span.askedAt > latest.askedAt) latest = span;
  }
}
