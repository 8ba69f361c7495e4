import { describe, expect, it } from '@jest/globals';
import { notificationKey } from '@engine/domain';

import { resolveAwait, type Arrival } from './await-tree.js';
import { parseTree } from './testing/script.js';

function resolve(tree: string, arrived: Readonly<Record<string, Arrival>>): Arrival {
  return resolveAwait(parseTree(tree), (id) => arrived[notificationKey(id)] ?? 'pending');
}

describe('await trees', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, Arrival>>, Arrival])[] = [
    ['c1', {}, 'pending'],
    ['c1', { c1: 'failure' }, 'failure'],
    ['flat(c1,s17)', { s17: 'success' }, 'indeterminate'],
    ['race(c1,c2)', { c2: 'failure' }, 'failure'],
    ['settled(c1,c2)', { c1: 'failure' }, 'pending'],
    ['settled(c1,c2)', { c1: 'failure', c2: 'success' }, 'success'],
    ['any(c1,c2)', { c1: 'failure' }, 'pending'],
    ['any(c1,c2)', { c1: 'failure', c2: 'failure' }, 'failure'],
    ['any(c1,c2)', { c2: 'success' }, 'success'],
    ['all(c1,c2)', { c1: 'success' }, 'pending'],
    ['all(c1,c2)', { c2: 'failure' }, 'failure'],
    ['all(c1,c2)', { c1: 'success', c2: 'success' }, 'success'],
    ['race(s1,any(c1,all(c3,c4)))', { c3: 'success' }, 'pending'],
    ['race(s1,any(c1,all(c3,c4)))', { c3: 'success', c4: 'success' }, 'success'],
    ['race(s1,any(c1,all(c3,c4)))', { s1: 'success' }, 'success'],
    ['all(c1,flat(c2,c3))', { c3: 'success' }, 'indeterminate'],
    ['settled(flat(c1,c2),flat(c3,c4))', { c1: 'success', c4: 'failure' }, 'success'],
  ];
  for (const [tree, arrived, expected] of rows) {
    it(`AWT-1 ${tree} with ${JSON.stringify(arrived)} is ${expected}`, () => {
      expect(resolve(tree, arrived)).toBe(expected);
    });
  }
});
