import { describe, expect, it } from '@jest/globals';

import { RowCache } from './row-cache.js';

interface Cell {
  bytes: number;
  isDurable: boolean;
}

describe('a cache of rows', () => {
  it.each([
    ['rows', 0],
    ['bytes', 100],
  ])(
    'carries pinned rows on a few times each, also when they are above its limit in %s',
    (_limit, bytes) => {
      let looks = 0;
      const cache = new RowCache<Cell>({ rowsMax: 64, bytesMax: 6_400 }, (cell) => {
        looks += 1;
        return !cell.isDurable;
      });
      const count = 20_000;
      for (let index = 0; index < count; index += 1) {
        cache.add(String(index), { bytes, isDurable: false });
      }
      expect(cache.size).toBe(count);
      expect(looks).toBeLessThan(3 * count);
    },
  );

  it('is as small as before when they are durable', () => {
    const cache = new RowCache<Cell>({ rowsMax: 64, bytesMax: 6_400 }, (cell) => !cell.isDurable);
    const cells = Array.from({ length: 1_000 }, () => ({ bytes: 1, isDurable: false }));
    for (const [index, cell] of cells.entries()) cache.add(String(index), cell);
    for (const cell of cells) cell.isDurable = true;
    for (let index = 0; index < 4_000; index += 1) {
      cache.add(`next ${String(index)}`, { bytes: 1, isDurable: true });
    }
    expect(cache.size).toBeLessThanOrEqual(64);
  });
});
