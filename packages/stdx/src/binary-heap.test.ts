import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BinaryHeap, type HeapHandle } from './binary-heap.js';

const byValue = (a: number, b: number): number => a - b;

describe('BinaryHeap', () => {
  it('pops in order whatever was pushed and removed before', () => {
    const step = fc.oneof(fc.record({ push: fc.integer() }), fc.record({ removeAt: fc.nat() }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const heap = new BinaryHeap<number>(byValue);
        const inside: HeapHandle<number>[] = [];
        for (const next of steps) {
          if ('push' in next) {
            inside.push(heap.push(next.push));
          } else if (inside.length > 0) {
            const [handle] = inside.splice(next.removeAt % inside.length, 1);
            expect(heap.remove(handle!)).toBe(true);
            expect(heap.remove(handle!)).toBe(false);
          }
          expect(heap.peek()).toBe(smallest(inside));
        }
        const popped = Array.from({ length: heap.size }, () => heap.pop());
        expect(popped).toEqual(inside.map((handle) => handle.item).sort(byValue));
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });

  it('lets go of every handle when cleared', () => {
    const heap = new BinaryHeap<number>(byValue);
    const handle = heap.push(1);
    heap.clear();
    expect(heap.size).toBe(0);
    expect(heap.remove(handle)).toBe(false);
  });
});

function smallest(handles: readonly HeapHandle<number>[]): number | undefined {
  return handles.map((handle) => handle.item).sort(byValue)[0];
}
