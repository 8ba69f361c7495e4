import { describe, expect, it } from '@jest/globals';

import { awaitTreeFromWire } from './notification.js';

const group = { single: undefined, combinator: 2, childCount: 1 } as const;
const leaf = {
  single: { id: { $case: 'signal', value: 1 } },
  combinator: 0,
  childCount: 0,
} as const;

describe('an await tree of another process', () => {
  it('has as many levels as the limit and no more, however deep the nodes go', () => {
    const nodes = (levels: number) => [...Array.from({ length: levels }, () => group), leaf];
    expect(awaitTreeFromWire({ nodes: nodes(1_000) }).kind).toBe('first-completed');
    for (const levels of [1_001, 100_000]) {
      expect(() => awaitTreeFromWire({ nodes: nodes(levels) })).toThrow(
        expect.objectContaining({ code: 'storage' }),
      );
    }
  });
});
