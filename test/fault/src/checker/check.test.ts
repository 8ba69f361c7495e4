/** The checker finds nothing in a good history, and each kind of harm in one that it was done to. */

import { describe, expect, it } from '@jest/globals';

import type { Recorded } from '../history/event.js';
import { check } from './check.js';
import type { Harm } from './rule.js';
import { goodHistory } from './testing-history.js';

type Change = (history: Recorded[]) => Recorded[];

async function harmsOf(change: Change): Promise<readonly Harm[]> {
  const { violations } = await check(change(goodHistory()));
  return [...new Set(violations.map(({ harm }) => harm))];
}

const isBooked = (effect: string) => (entry: Recorded) =>
  entry.kind === 'booked' && entry.effect === effect;
const isAnswered = (op: string) => (entry: Recorded) =>
  entry.kind === 'answered' && entry.op === op;

/** Changes the entries that fit, leaves the others; undefined takes one out. */
function edit(
  fits: (entry: Recorded) => boolean,
  change: (entry: Recorded) => Recorded | undefined,
): Change {
  return (history) => history.flatMap((entry) => (fits(entry) ? (change(entry) ?? []) : entry));
}

function after(fits: (entry: Recorded) => boolean, more: (entry: Recorded) => Recorded): Change {
  return (history) => history.flatMap((entry) => (fits(entry) ? [entry, more(entry)] : [entry]));
}

const patch =
  (fields: object) =>
  (entry: Recorded): Recorded => ({ ...entry, ...fields });

describe('the checker', () => {
  it('finds nothing in a good history', async () => {
    const { violations, counts } = await check(goodHistory());
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ asked: 12, acknowledged: 11, unknown: 1, stepRepeats: 1 });
  });

  const planted: readonly (readonly [string, Harm, Change])[] = [
    ['an acknowledged call has no effect', 'lost', edit(isBooked('add'), () => undefined)],
    ['an acknowledged send has no effect', 'lost', edit(isBooked('late'), () => undefined)],
    ['a call is booked twice', 'doubled', after(isBooked('send'), patch({ position: 3 }))],
    [
      'an object forgot what it was told',
      'lost',
      edit(
        (entry) => entry.kind === 'final' && entry.book === 'Account/k',
        patch({ count: 2, total: 7 }),
      ),
    ],
    [
      'an object holds more than it was told',
      'phantom',
      edit((entry) => entry.kind === 'final' && entry.book === 'Account/x', patch({ count: 2 })),
    ],
    ['two calls share a position', 'lost', edit(isBooked('send'), patch({ position: 1 }))],
    [
      'an effect of nothing',
      'phantom',
      after(isBooked('add'), patch({ effect: 'who', position: 9 })),
    ],
    ['the amount changes', 'changed', edit(isBooked('spread/0'), patch({ amount: 7 }))],
    ['money is lost on its way', 'lost', edit(isBooked('move/to'), () => undefined)],
    [
      'an operation of unknown outcome is half done',
      'torn',
      (history) =>
        history.filter((entry) => !isBooked('move/to')(entry) && !isAnswered('move')(entry)),
    ],
    [
      'a step runs again after its result was learned',
      'repeated',
      after(
        (entry) => entry.kind === 'learned' && entry.step === 'steps/0',
        (entry) => ({ ...entry, kind: 'executing' }) as Recorded,
      ),
    ],
    [
      'a result of a step changes',
      'changed',
      after((entry) => entry.kind === 'learned' && entry.step === 'steps/1', patch({ value: 99 })),
    ],
    [
      'a result that no run gave',
      'changed',
      edit((entry) => entry.kind === 'learned' && entry.step === 'order/paid', patch({ value: 1 })),
    ],
    ['another answer', 'changed', edit(isAnswered('steps'), patch({ value: [11, 13] }))],
    [
      'a repeated call gets another result',
      'changed',
      edit((entry) => entry.kind === 'answered' && entry.stage === 'repeat', patch({ value: 2 })),
    ],
    ['a sleep ends early', 'early', edit((entry) => entry.kind === 'woke', patch({ ms: 60 }))],
    [
      'a delayed send comes early',
      'early',
      (history) => {
        const late = history.find(isBooked('late'));
        const rest = history.filter((entry) => entry !== late);
        const at = rest.findIndex(isAnswered('late'));
        const time = rest[at]?.time ?? 0;
        return rest.toSpliced(at, 0, { ...late, time } as Recorded);
      },
    ],
    [
      'a read misses what was acknowledged',
      'stale',
      edit(isAnswered('read'), patch({ value: { count: 2, total: 7 } })),
    ],
    [
      'an object does two things at once',
      'order',
      (history) => {
        const held = history.findIndex((entry) => entry.kind === 'entered');
        const slow = history.findIndex(isBooked('slow'));
        const other = { ...history[slow], effect: 'send', position: 2 } as Recorded;
        return history.filter((entry) => !isBooked('send')(entry)).toSpliced(held + 1, 0, other);
      },
    ],
    [
      'the later comes before the earlier',
      'order',
      (history) =>
        history.map((entry) => {
          if (isBooked('add')(entry)) return { ...entry, position: 2 } as Recorded;
          return isBooked('send')(entry) ? ({ ...entry, position: 1 } as Recorded) : entry;
        }),
    ],
    [
      'an awakeable is not heard',
      'stuck',
      edit(
        (entry) => entry.kind === 'woken',
        () => undefined,
      ),
    ],
    ['a call is never answered', 'stuck', edit(isAnswered('nap'), () => undefined)],
    [
      'something is left running',
      'stuck',
      (history) => [
        ...history,
        { kind: 'leftover', invocation: 'inv_9', what: 'suspended', time: 0 },
      ],
    ],
    [
      'an error where there may be none',
      'refused',
      edit(isAnswered('wait'), ({ time }) => ({
        kind: 'refused',
        op: 'wait',
        status: 500,
        body: '',
        time,
      })),
    ],
  ];

  it('counts what a process calls that was frozen in the middle of a turn, and only that', async () => {
    const again: Change = after(
      (entry) => entry.kind === 'learned' && entry.step === 'steps/0',
      (entry) => ({ ...entry, kind: 'executing' }) as Recorded,
    );
    const thawed =
      (beforeMs: number): Change =>
      (history) => {
        const changed = again(history);
        const { time = 0 } = changed.find(isBooked('steps/0')) ?? {};
        const fault = { number: 1, name: 'worker-freeze-long', phase: 'healed', what: '' } as const;
        return [{ kind: 'fault', ...fault, time: time - beforeMs }, ...changed];
      };
    const soon = await check(thawed(500)(goodHistory()));
    expect(soon.violations).toEqual([]);
    expect(soon.counts.overlaps).toBe(1);
    expect(await harmsOf(thawed(5_000))).toEqual(['repeated']);
  });

  it.each(planted)('finds that %s', async (_what, harm, change) => {
    expect(await harmsOf(change)).toContain(harm);
  });
});
