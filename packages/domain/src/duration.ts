/**
 * Durations as people write them: friendly (`1h 30m`), clock (`01:30:00`) and ISO 8601 (`PT1H30M`).
 *
 * Results are milliseconds; parts of a millisecond, down to nanoseconds, survive as a fraction. A day has 24 hours and a week
 * 7 days. Months, years, negative durations and bare numbers other than 0 are refused.
 */

import { DURATION_MS_MAX } from './limits.js';

export type ParsedDuration =
  { readonly kind: 'ok'; readonly ms: number } | { readonly kind: 'bad'; readonly reason: string };

/** Last instant that a timestamp can name: 9999-12-31T23:59:59.999Z in ms since the epoch. */
export const TIMESTAMP_MS_MAX = 253_402_300_799_999;

interface Unit {
  readonly ms: number;
  readonly names: readonly string[];
  /** Largest count of this unit in one duration. */
  readonly countMax: number;
}

const SECONDS_MAX = DURATION_MS_MAX / 1_000;

/** From large to small: the order in which they may follow each other. */
const UNITS: readonly Unit[] = [
  { ms: 604_800_000, names: ['w', 'wk', 'wks', 'week', 'weeks'], countMax: 1_043_497 },
  { ms: 86_400_000, names: ['d', 'day', 'days'], countMax: 7_304_484 },
  { ms: 3_600_000, names: ['h', 'hr', 'hrs', 'hour', 'hours'], countMax: 175_307_616 },
  { ms: 60_000, names: ['m', 'min', 'mins', 'minute', 'minutes'], countMax: 10_518_456_960 },
  { ms: 1_000, names: ['s', 'sec', 'secs', 'second', 'seconds'], countMax: SECONDS_MAX },
  {
    ms: 1,
    names: ['ms', 'msec', 'msecs', 'milli', 'millis', 'millisecond', 'milliseconds'],
    countMax: SECONDS_MAX * 1e3,
  },
  {
    ms: 1e-3,
    // Both characters that look like a Greek mu: U+00B5 and U+03BC.
    names: [
      ...['us', '\u00b5s', '\u03bcs', 'usec', 'usecs', '\u00b5sec', '\u00b5secs', '\u03bcsec'],
      ...['\u03bcsecs', 'micro', 'micros', 'microsecond', 'microseconds'],
    ],
    countMax: SECONDS_MAX * 1e6,
  },
  {
    ms: 1e-6,
    names: ['ns', 'nsec', 'nsecs', 'nano', 'nanos', 'nanosecond', 'nanoseconds'],
    countMax: 2 ** 63,
  },
];
const CALENDAR_NAMES = new Set(['mo', 'mos', 'month', 'months', 'y', 'yr', 'yrs', 'year', 'years']);
const CALENDAR_REASON = 'please use units of days or smaller';

const DAY_RANK = 1;
const HOUR_RANK = 2;
const MINUTE_RANK = 3;
const SECOND_RANK = 4;
const RANKS = new Map(UNITS.flatMap((unit, rank) => unit.names.map((name) => [name, rank])));

const COMPONENT = /^(\d+)(?:[.,](\d{1,9}))?[ \t\n]*([a-z\u00b5\u03bc]+)/;
const CLOCK = /^(\d+):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?$/;
const ISO = /^[Pp](?:(\d+)[Yy])?(?:(\d+)[Mm])?(?:(\d+)[Ww])?(?:(\d+)[Dd])?(?:[Tt](.+))?$/;
const ISO_TIME =
  /^(?:(\d+)([.,]\d{1,9})?[Hh])?(?:(\d+)([.,]\d{1,9})?[Mm])?(?:(\d+)([.,]\d{1,9})?[Ss])?$/;

/** Adds up components; remembers the first thing that is wrong. */
interface Sum {
  ms: number;
  lastRank: number;
  isClosed: boolean;
}

class DurationFault extends Error {}

/**
 * The duration of a configuration value or an admin request. Blanks before and after are refused.
 * A `bad` reason completes a sentence such as `bad duration '…': …`.
 */
export function parseDuration(text: string): ParsedDuration {
  if (/\s$/.test(text)) return { kind: 'bad', reason: 'blank at the end' };
  return parse(text);
}

/** The `delay` of an ingress request: as `parseDuration`, but blanks at the end are allowed; whole milliseconds, rounded down. */
export function parseDelay(text: string): ParsedDuration {
  const parsed = parse(text.trimEnd());
  return parsed.kind === 'ok' ? { kind: 'ok', ms: Math.trunc(parsed.ms) } : parsed;
}

/** Prints a duration compactly, largest unit first: `1d`, `1h 30m`, `1m 30s 5ms`, `0s`. Weeks are printed as days. */
export function formatDuration(ms: number): string {
  const parts: string[] = [];
  const roundedNanos = Math.round((ms - Math.floor(ms)) * NANOS_PER_MS);
  const nanos = roundedNanos % NANOS_PER_MS;
  let rest = Math.floor(ms) + (roundedNanos - nanos) / NANOS_PER_MS;
  for (const [suffix, unitMs] of PRINTED_UNITS) {
    const count = Math.floor(rest / unitMs);
    if (count > 0) parts.push(`${count.toString()}${suffix}`);
    rest -= count * unitMs;
  }
  if (nanos >= 1000) parts.push(`${Math.floor(nanos / 1000).toString()}µs`);
  if (nanos % 1000 > 0) parts.push(`${(nanos % 1000).toString()}ns`);
  return parts.length === 0 ? '0s' : parts.join(' ');
}

const NANOS_PER_MS = 1e6;
const PRINTED_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

function parse(text: string): ParsedDuration {
  if (text === '') return { kind: 'bad', reason: 'empty' };
  if (text === '0') return { kind: 'ok', ms: 0 };
  try {
    const unsigned = text.startsWith('+') ? text.slice(1) : text;
    if (unsigned.startsWith('-') || /\bago$/.test(unsigned))
      fail('negative durations are not supported');
    const ms = /^p/i.test(unsigned) ? parseIso(unsigned) : parseFriendly(unsigned);
    if (ms > DURATION_MS_MAX) fail('too large');
    return { kind: 'ok', ms };
  } catch (error) {
    if (error instanceof DurationFault) return { kind: 'bad', reason: error.message };
    throw error;
  }
}

function parseFriendly(text: string): number {
  const sum: Sum = { ms: 0, lastRank: -1, isClosed: false };
  let rest = text;
  for (;;) {
    const clock = CLOCK.exec(rest);
    if (clock !== null) return addClock(sum, clock);
    const component = COMPONENT.exec(rest);
    if (component === null) fail(`expected a number with a unit at '${rest}'`);
    const [matched, count = '', fraction, name = ''] = component;
    addComponent(sum, rankOf(name), { count, fraction });
    rest = rest.slice(matched.length);
    if (rest === '') return sum.ms;
    const separator = /^(?:,[ \t\n]+|[ \t\n]+)?(?=\d)/.exec(rest);
    if (separator === null) fail(`unexpected text at '${rest}'`);
    rest = rest.slice(separator[0].length);
  }
}

function addClock(sum: Sum, clock: RegExpExecArray): number {
  const [, hours = '', minutes = '', seconds = '', fraction] = clock;
  if (Number(minutes) > 59 || Number(seconds) > 59) fail('minutes and seconds go up to 59');
  if (sum.lastRank >= HOUR_RANK) fail('a clock time follows days or weeks only');
  addComponent(sum, HOUR_RANK, { count: hours, fraction: undefined });
  addComponent(sum, MINUTE_RANK, { count: minutes, fraction: undefined });
  addComponent(sum, SECOND_RANK, { count: seconds, fraction });
  return sum.ms;
}

function parseIso(text: string): number {
  const date = ISO.exec(text);
  if (date === null) fail('not an ISO 8601 duration');
  const [, years, months, weeks, days, time] = date;
  if (years !== undefined || months !== undefined) fail(CALENDAR_REASON);
  if (weeks === undefined && days === undefined && time === undefined) fail('no unit given');
  const sum: Sum = { ms: 0, lastRank: -1, isClosed: false };
  if (weeks !== undefined) addComponent(sum, 0, { count: weeks, fraction: undefined });
  if (days !== undefined) addComponent(sum, DAY_RANK, { count: days, fraction: undefined });
  if (time === undefined) return sum.ms;
  const parts = ISO_TIME.exec(time);
  if (parts === null) fail('not an ISO 8601 duration');
  for (const [index, rank] of [HOUR_RANK, MINUTE_RANK, SECOND_RANK].entries()) {
    const count = parts[1 + 2 * index];
    if (count !== undefined) {
      addComponent(sum, rank, { count, fraction: parts[2 + 2 * index]?.slice(1) });
    }
  }
  return sum.ms;
}

function rankOf(name: string): number {
  const rank = RANKS.get(name);
  if (rank !== undefined) return rank;
  return fail(CALENDAR_NAMES.has(name) ? CALENDAR_REASON : `unknown unit '${name}'`);
}

function addComponent(
  sum: Sum,
  rank: number,
  number: { readonly count: string; readonly fraction: string | undefined },
): void {
  const unit = UNITS[rank];
  if (unit === undefined) throw new RangeError('no such unit');
  if (sum.isClosed) fail('only the last number may have a fraction');
  if (rank <= sum.lastRank) fail('units go from large to small, each once');
  const count = Number(number.count);
  if (count > unit.countMax) fail('too large');
  sum.ms += count * unit.ms;
  sum.lastRank = rank;
  if (number.fraction === undefined) return;
  if (rank < HOUR_RANK) fail('only hours and smaller units may have a fraction');
  sum.ms += (Number(number.fraction) / 10 ** number.fraction.length) * unit.ms;
  sum.isClosed = true;
}

function fail(reason: string): never {
  throw new DurationFault(reason);
}
