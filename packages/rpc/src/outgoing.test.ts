import type { Scheduler } from '@engine/runtime';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import {
  BATCH_BYTES_MAX,
  BATCH_LENGTH_MAX,
  IN_FLIGHT_BYTES_MAX,
  QUEUE_BYTES_MAX,
} from './limits.js';
import { Outgoing } from './outgoing.js';

/** Turns of the event loop by hand. */
class Turns implements Scheduler {
  #waiting: (() => void)[] = [];

  immediate(fn: () => void): void {
    this.#waiting.push(fn);
  }

  after(): never {
    throw new Error('no timers here');
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  turn(): void {
    for (const fn of this.#waiting.splice(0)) fn();
  }
}

interface Written {
  readonly items: readonly number[];
  readonly taken: () => void;
}

function start(): {
  readonly turns: Turns;
  readonly written: Written[];
  readonly out: Outgoing<number>;
} {
  const turns = new Turns();
  const written: Written[] = [];
  const out = new Outgoing<number>(turns, (items, taken) => written.push({ items, taken }));
  return { turns, written, out };
}

describe('Outgoing', () => {
  it('writes what one turn brings as one batch', () => {
    const { turns, written, out } = start();
    for (let item = 0; item < 5; item += 1) out.offer(item, 10);
    expect(written).toEqual([]);
    turns.turn();
    expect(written.map(({ items }) => items)).toEqual([[0, 1, 2, 3, 4]]);
    expect(turns.isIdle).toBe(true);
  });

  it('lets a big item delay only itself', () => {
    const { turns, written, out } = start();
    for (const [item, bytes] of [10, BATCH_BYTES_MAX, 10].entries()) out.offer(item, bytes);
    turns.turn();
    expect(written.map(({ items }) => items)).toEqual([[0], [1], [2]]);
  });

  it('holds back while the peer does not take what was written, and refuses when there is no room', () => {
    const { turns, written, out } = start();
    out.offer(0, IN_FLIGHT_BYTES_MAX);
    turns.turn();
    let count = 1;
    while (out.offer(count, BATCH_BYTES_MAX)) count += 1;
    expect(count - 1).toBe(QUEUE_BYTES_MAX / BATCH_BYTES_MAX);
    turns.turn();
    expect(written).toHaveLength(1);
    written[0]?.taken();
    turns.turn();
    expect(written.length).toBe(1 + IN_FLIGHT_BYTES_MAX / BATCH_BYTES_MAX);
  });

  it('tells the writer of a turn without items, also after the peer was behind', () => {
    const { turns, written, out } = start();
    out.offer(0, IN_FLIGHT_BYTES_MAX);
    turns.turn();
    out.flushSoon();
    turns.turn();
    expect(written).toHaveLength(1);
    written[0]?.taken();
    turns.turn();
    expect(written.map(({ items }) => items)).toEqual([[0], []]);
  });

  it('forgets everything when it is cleared, and hears no more of old streams', () => {
    const { turns, written, out } = start();
    out.offer(0, IN_FLIGHT_BYTES_MAX);
    turns.turn();
    out.offer(1, 1);
    out.clear();
    turns.turn();
    written[0]?.taken();
    expect([out.length, out.bytes, turns.isIdle]).toEqual([0, 0, true]);
    out.offer(2, 1);
    turns.turn();
    expect(written.map(({ items }) => items)).toEqual([[0], [2]]);
  });

  it('keeps the order and the limits, whatever is offered and taken', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('offer' as const), bytes: fc.nat(2 * BATCH_BYTES_MAX) }),
      fc.constant({ kind: 'turn' as const }),
      fc.constant({ kind: 'take' as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { turns, written, out } = start();
        const offered: number[] = [];
        let takenCount = 0;
        for (const { kind, ...rest } of steps) {
          if (kind === 'turn') turns.turn();
          else if (kind === 'take' && takenCount < written.length) {
            written[takenCount]?.taken();
            takenCount += 1;
          } else if ('bytes' in rest && out.offer(offered.length, rest.bytes)) {
            offered.push(offered.length);
          }
        }
        while (takenCount < written.length || !turns.isIdle) {
          for (; takenCount < written.length; takenCount += 1) written[takenCount]?.taken();
          turns.turn();
        }
        expect(written.flatMap(({ items }) => items)).toEqual(offered);
        expect(written.every(({ items }) => items.length <= BATCH_LENGTH_MAX)).toBe(true);
        expect([out.length, out.bytes]).toEqual([0, 0]);
      }),
    );
  });
});
