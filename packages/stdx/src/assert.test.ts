import { describe, expect, it } from '@jest/globals';
import { assert, assertNever, AssertionError } from './assert.js';

describe('assert', () => {
  it('passes on true and throws its message on false', () => {
    assert(true, 'fine');
    expect(() => {
      assert(false, 'head stands before length');
    }).toThrow(AssertionError);
  });

  it('names the kind that no case expected', () => {
    expect(() => assertNever({ kind: 'novel' } as never, 'entry')).toThrow('entry: novel');
  });
});
