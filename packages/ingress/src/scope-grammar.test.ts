import { describe, expect, it } from '@jest/globals';
import { limitKeyFault, scopeFault } from './scope-grammar.js';

const LONG = 's'.repeat(37);
const CHARACTERS = 'value contains characters outside the allowed set [a-zA-Z0-9_.-]';

describe('scopeFault', () => {
  it.each([
    ['aZ0_.-'.repeat(6), undefined],
    ['', 'value cannot be empty'],
    [LONG, 'value too long: 37 bytes (max 36)'],
    ['a b', CHARACTERS],
    ['é', CHARACTERS],
  ])('%s', (scope, fault) => {
    expect(scopeFault(scope)).toBe(fault);
  });
});

describe('limitKeyFault', () => {
  const component = 'invalid limit-key component: ';
  it.each([
    ['a', undefined],
    ['a/', undefined],
    ['a/b', undefined],
    ['a/b/', undefined],
    ['a/b/c', 'too many path components in the given limit-key (max 2)'],
    ['/', `${component}value cannot be empty`],
    ['/a', `${component}value cannot be empty`],
    ['a//b', `${component}value cannot be empty`],
    ['*', component + CHARACTERS],
    [`a/${LONG}`, `${component}value too long: 37 bytes (max 36)`],
  ])('%s', (limitKey, fault) => {
    expect(limitKeyFault(limitKey)).toBe(fault);
  });
});
