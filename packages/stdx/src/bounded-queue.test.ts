import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BoundedQueue } from './bounded-queue.js';

describe('BoundedQueue', () => {
  it('refuses what is over its limit and forgets nothing', () => {
    const queue = new BoundedQueue<number>(2);
    expect([queue.push(1), queue.push(2), queue.push(3)]).toEqual([true, true, false]);
    expect(queue.isFull).toBe(true);
    expect(queue.peek()).toBe(1);
    expect(queue.drain()).toEqual([1, 2]);
    expect(queue.isEmpty).toBe(true);
    expect(queue.shift()).toBeUndefined();
  });

  it('drains no more than asked and clears', () => {
    const queue = new BoundedQueue<number>(100);
    for (let i = 0; i < 20; i += 1) queue.push(i);
    expect(queue.drain(3)).toEqual([0, 1, 2]);
    expect(queue.length).toBe(17);
    queue.clear();
    expect(queue.length).toBe(0);
    expect(queue.peek()).toBeUndefined();
  });

  it('behaves as an array with a limit', () => {
    const step = fc.oneof(fc.integer(), fc.constant('shift' as const));
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 200 }),
        fc.integer({ min: 1, max: 40 }),
        (steps, max) => {
          const queue = new BoundedQueue<number>(max);
          const model: number[] = [];
          for (const next of steps) {
            if (next === 'shift') expect(queue.shift()).toBe(model.shift());
            else if (queue.push(next)) model.push(next);
            else expect(model.length).toBe(max);
            expect(queue.length).toBe(model.length);
          }
          expect(queue.drain()).toEqual(model);
        },
      ),
    );
  });
});
