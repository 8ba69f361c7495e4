/** Properties over random histories: decide never throws, its rules hold, its mutations may be applied twice. */

import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';
import fc from 'fast-check';

import { decide } from './decide.js';
import { violations } from './invariants.js';
import { MapState } from './testing/map-state.js';
import { parseCommand } from './testing/script.js';

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const name = fc.constantFrom('A', 'B', 'C', 'd');
const attempt = fc.constantFrom('1', '2', '3');
const id = fc.constantFrom('1', '2', '3', '4');
const target = fc.constantFrom(
  'Greeter/greet',
  'object:Counter/k/add',
  'shared:Counter/k/get',
  'workflow:Order/o/run',
  'peek:Order/o/pay',
);
const value = fc.constantFrom('v', 'w', '!418');
const tree = fc.constantFrom(
  'c1',
  's17',
  'ngo',
  'race(c1,s1)',
  'all(c1,c2)',
  'any(c2,ngo)',
  'settled(c1,c2)',
  'flat(c3,s17)',
);
const words = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(' '));
const is = fc.constant<string>;

const told = fc.oneof(
  words(is('outputs'), value),
  is('runs'),
  is('ends'),
  is('fails'),
  is('fails fail'),
  is('fails pause'),
  is('fails killing'),
  is('fails delay 5'),
  words(is('sets'), is('x'), value),
  words(is('gets x'), id),
  words(is('lists'), id),
  is('clears x'),
  is('clears all'),
  words(is('awaits p'), id),
  words(is('peeks p'), id),
  words(is('keeps p'), value, id),
  words(is('sleeps'), fc.constantFrom('5', '500'), id),
  words(is('calls'), name, target, id, id),
  words(is('sends'), name, target, id),
  words(is('signals'), name, fc.constantFrom('s1', 's17', 'ngo'), is('void')),
  words(is('attaches'), name, id),
  words(is('asks'), name, id),
  words(is('proposes'), id, value),
  words(is('suspends on'), tree, is('knowing'), fc.constantFrom('1', '2', '5')),
);
const move = fc.constantFrom(
  '',
  'on dp2',
  'on none',
  'latest dp3',
  'latest none',
  'on dp2 speaking 5-6',
);
const line = fc.oneof(
  words(is('invoke'), name, target, is('for'), fc.constantFrom('r1', 'r2')),
  words(
    is('invoke'),
    name,
    target,
    is('submitted r3 until 50 keeping'),
    fc.constantFrom('0', '20'),
  ),
  words(is('attach'), name, is('as r4')),
  words(is('attach'), name, is('peek as r4')),
  words(is('cancel'), name, is('as r5')),
  words(is('kill'), name, is('as r5')),
  words(is('pause'), name, is('as r5')),
  words(is('resume'), name, move, is('as r5')),
  words(is('restart'), name, is('into'), name, is('up-to'), fc.constantFrom('0', '1', '3'), move),
  words(is('purge'), name, is('as r5')),
  words(is('purge-journal'), name, is('as r5')),
  words(
    is('replace'),
    fc.constantFrom('Counter/k', 'Order/o'),
    is('with'),
    fc.constantFrom('nothing', 'x=1', 'y=2,z=3'),
    fc.constantFrom('', ' at other', ' at 47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'),
  ),
  words(is('signal'), name, fc.constantFrom('s1', 's17', 'ngo'), value, is('as r6')),
  words(
    is('timer'),
    fc.constantFrom('start', 'sleep', 'retry', 'purge', 'purge-journal'),
    name,
    id,
    is('incarnation 1'),
  ),
  words(is('message 1'), id, is('kill'), name),
  words(is('acked 1'), id),
  fc.tuple(name, attempt, told).map(([who, number, what]) => `${who}#${number} ${what}`),
);

describe('decide', () => {
  it('SHP-1 INV-1…8 holds its rules whatever the history', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const state = new MapState();
        lines.forEach((text, index) => {
          const context = {
            self: toPartitionId(0),
            partitionOf: (who: string) => toPartitionId(/^[a-z]/.test(who) ? 1 : 0),
            incarnation: index < 5 ? 1 : index,
            sha256,
          };
          const outcome = decide(state, parseCommand(text, index * 7), context);
          state.apply(outcome.mutations);
          expect(violations(state, outcome)).toEqual([]);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('SHP-3 gives mutations that may be applied twice', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const once = new MapState();
        const twice = new MapState();
        lines.forEach((text, index) => {
          const { mutations } = decide(once, parseCommand(text, index * 7), {
            self: toPartitionId(0),
            partitionOf: () => toPartitionId(0),
            incarnation: index,
            sha256,
          });
          once.apply(mutations);
          twice.apply(mutations);
          twice.apply(mutations);
        });
        expect(twice.rows).toEqual(once.rows);
      }),
      { numRuns: 100 },
    );
  });
});
