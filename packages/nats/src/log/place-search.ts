/**
 * Where in the stream a store goes on. Messages carry the number of their record, records are dense, and a record takes one message
 * or more; so the record is found by halving, in one or two reads when few records have parts. Pure: yields the sequences to read.
 */

import type { LogBreak, LogPosition } from '@engine/log';

import type { StreamState } from './log-stream.js';
import { isLastPart, type MessageHead } from './parts.js';

export type PlaceFound =
  /** The message after the position; one above the last when there is none yet. */
  | { readonly kind: 'place'; readonly next: number }
  /** A message went away while we looked: it was trimmed. Begin again. */
  | { readonly kind: 'moved' }
  | LogBreak;

type Search<T> = Generator<number, T, MessageHead | undefined>;

/** Yields sequences of messages to read, takes their heads (undefined: not there), returns the place. */
export function* searchPlace(
  state: Pick<StreamState, 'first' | 'last'>,
  from: LogPosition,
): Search<PlaceFound> {
  const { first, last } = state;
  if (last === 0) {
    return from.sequence === 0n ? { kind: 'place', next: 1 } : { kind: 'ahead', last: 0n };
  }
  if (first > last) {
    return { kind: 'diverged', sequence: from.sequence, why: 'every record was purged' };
  }
  const newest = yield last;
  if (newest === undefined) return { kind: 'moved' };
  const isWhole = isLastPart(newest);
  if (newest.sequence < from.sequence || (newest.sequence === from.sequence && !isWhole)) {
    return { kind: 'ahead', last: isWhole ? newest.sequence : newest.sequence - 1n };
  }
  if (newest.sequence === from.sequence) return judge(newest, from, last + 1);
  const oldest = yield first;
  if (oldest === undefined) return { kind: 'moved' };
  if (oldest.sequence > from.sequence) return judgeOldest(oldest, from, first);
  return yield* halve({ at: first, sequence: oldest.sequence }, last, from);
}

/** The message at `low` belongs to the wanted record or one before, the one at `high` to one after. */
function* halve(
  lowest: { readonly at: number; readonly sequence: bigint },
  highest: number,
  from: LogPosition,
): Search<PlaceFound> {
  let [low, high] = [lowest.at, highest];
  // Were all records in between of one message, the wanted one would stand here. It stands nowhere before.
  let probe = low + Number(from.sequence - lowest.sequence);
  while (low < high) {
    probe = Math.min(probe, high - 1);
    const head = yield probe;
    if (head === undefined) return { kind: 'moved' };
    if (head.sequence <= from.sequence) {
      if (head.sequence === from.sequence && isLastPart(head)) return judge(head, from, probe + 1);
      low = probe + 1;
    } else {
      high = probe;
    }
    probe = Math.floor((low + high) / 2);
  }
  return { kind: 'diverged', sequence: from.sequence, why: 'the record is missing' };
}

function judge(head: MessageHead, from: LogPosition, next: number): PlaceFound {
  if (head.chain === from.chain && head.epoch === from.epoch) return { kind: 'place', next };
  return { kind: 'diverged', sequence: from.sequence, why: 'the store holds another record' };
}

function judgeOldest(oldest: MessageHead, from: LogPosition, first: number): PlaceFound {
  if (oldest.sequence > from.sequence + 1n) return { kind: 'trimmed', oldest: oldest.sequence };
  if (oldest.part === 0) return { kind: 'place', next: first };
  return { kind: 'diverged', sequence: oldest.sequence, why: 'the log begins within a record' };
}
