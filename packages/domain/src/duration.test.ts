import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDuration, parseDelay, parseDuration } from './duration.js';

const H = 3_600_000;
const D = 24 * H;

const ACCEPTED: readonly (readonly [string, number])[] = [
  ['0', 0],
  ['0s', 0],
  ['PT0S', 0],
  ['PT60S', 60_000],
  ['PT0.5S', 500],
  ['PT1H30M', 1.5 * H],
  ['P1D', D],
  ['p1d', D],
  ['P1W', 7 * D],
  ['P1DT2H', D + 2 * H],
  ['PT120H', 120 * H],
  ['PT8H6M12.345S', 8 * H + 6 * 60_000 + 12_345],
  ['PT1.5H', 1.5 * H],
  ['P0D', 0],
  ['pt2s', 2000],
  ['pT1h', H],
  ['PT1.5S', 1500],
  ['PT30M', H / 2],
  ['60ms', 60],
  ['1s', 1000],
  ['1m', 60_000],
  ['1h', H],
  ['1d', D],
  ['1w', 7 * D],
  ['60 sec', 60_000],
  ['10 minutes', 600_000],
  ['2days', 2 * D],
  ['3hrs', 3 * H],
  ['90secs', 90_000],
  ['1min', 60_000],
  ['5 mins', 300_000],
  ['1wk', 7 * D],
  ['5msec', 5],
  ['5millis', 5],
  ['1hour30minutes', 1.5 * H],
  ['1s500ms', 1500],
  ['1s 500ms', 1500],
  ['1h30m', 1.5 * H],
  ['1h 30m', 1.5 * H],
  ['1h, 30m', 1.5 * H],
  ['1h30m15.5s', 1.5 * H + 15_500],
  ['1.5h', 1.5 * H],
  ['00:00:05', 5000],
  ['24:00:00', D],
  ['01:30:00', 1.5 * H],
  ['1 day 02:00:00', D + 2 * H],
  ['1d 12:00:00', 1.5 * D],
  ['+5s', 5000],
  ['1500ms', 1500],
  ['1h, 2m', H + 120_000],
  ['5 hours', 5 * H],
];

const REFUSED = [
  ...[
    '',
    ' 1s',
    '1000',
    '0.5',
    '-1s',
    '-PT5S',
    '5s ago',
    'PT-5S',
    '1 month',
    'infinite',
    '1 hour ago',
    'P1M',
    'P1Y',
    '1mo',
    '1y',
    'PT',
    'P',
    'P1DT',
  ],
  ...['PT1H30', 'P1.5D', '1.5d', '1.5h30m', '1e3ms', 'abc', '1h and 30m', '7304485d', '1S', '1H'],
  ...[
    '1m1h',
    '1h1h',
    '1h,30m',
    '00:05',
    '1h 02:00:00',
    '00:99:00',
    'inf',
    'none',
    'unlimited',
    '1h30m,',
    '.5s',
  ],
];

describe('duration', () => {
  it.each(ACCEPTED)('reads %s', (text, ms) => {
    expect(parseDuration(text)).toEqual({ kind: 'ok', ms });
    expect(parseDelay(text)).toEqual({ kind: 'ok', ms });
  });

  it.each(['10µs', '10\u03bcs', '5usec', '5micros', '100ns', '5nanos', '10us'])(
    'reads %s as less than a millisecond',
    (text) => {
      const parsed = parseDuration(text);
      expect(parsed.kind === 'ok' && parsed.ms > 0 && parsed.ms < 1).toBe(true);
      expect(parseDelay(text)).toEqual({ kind: 'ok', ms: 0 });
    },
  );

  it.each(REFUSED)('refuses %j', (text) => {
    expect(parseDuration(text).kind).toBe('bad');
    expect(parseDelay(text).kind).toBe('bad');
  });

  it('names the way out of months and years', () => {
    const reason = 'please use units of days or smaller';
    expect(parseDelay('1mo')).toEqual({ kind: 'bad', reason });
    expect(parseDelay('P1Y')).toEqual({ kind: 'bad', reason });
  });

  it('allows blanks at the end of a delay only', () => {
    expect(parseDelay('1s  ')).toEqual({ kind: 'ok', ms: 1000 });
    expect(parseDuration('1s ').kind).toBe('bad');
    expect(parseDuration('1s\n').kind).toBe('bad');
  });

  it.each([
    [D, '1d'],
    [1.5 * H, '1h 30m'],
    [90_005, '1m 30s 5ms'],
    [500, '500ms'],
    [0.001, '1µs'],
    [0.0000015, '2ns'],
    [0.9999999, '1ms'],
    [999.9999999, '1s'],
    [0, '0s'],
    [400 * D, '400d'],
    [7 * D, '7d'],
    [D + 90 * 60_000 + 1_500.25, '1d 1h 30m 1s 500ms 250µs'],
  ])('prints %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('takes no more in all units together than in seconds alone, so that it can read what it prints', () => {
    const longest = parseDuration('631107417600s');
    expect(longest.kind === 'ok' && parseDuration(formatDuration(longest.ms))).toEqual(longest);
    expect(parseDuration('P999995W2885370070M').kind).toBe('bad');
    expect(parseDelay('1043497w 7304484d').kind).toBe('bad');
  });

  it('reads what it prints', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 45), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ kind: 'ok', ms });
      }),
    );
  });

  it('never throws', () => {
    const characters = fc.constantFrom(...'0123456789.,:+- PTHMSDWhmsdw');
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 12 }), (text) => {
        expect(['ok', 'bad']).toContain(parseDelay(text).kind);
      }),
    );
  });
});
