import { describe, expect, it } from '@jest/globals';
import { decodeSegment, parseRequestTarget } from './path-text.js';

describe('parseRequestTarget', () => {
  it.each([
    ['/', '/', undefined],
    ['//', '/', undefined],
    ['///', '/', undefined],
    ['/foo', '/foo', undefined],
    ['/engine/', '/engine', undefined],
    ['//Greeter/greet', '/Greeter/greet', undefined],
    ['/engine/call/Greeter/greet///', '/engine/call/Greeter/greet', undefined],
    ['/engine/call/Counter//get', '/engine/call/Counter//get', undefined],
    ['/engine/call/Counter/../get', '/engine/call/Counter/../get', undefined],
    ['/a/b/?x=1', '/a/b', 'x=1'],
    ['/a/b?', '/a/b', ''],
    ['/a/b?x=/c/?d', '/a/b', 'x=/c/?d'],
    ['http://host:1/a/b?x=1', '/a/b', 'x=1'],
    ['http://host', '/', undefined],
    ['http://host?x', '/', 'x'],
    ['*', '*', undefined],
  ])('%s', (target, path, query) => {
    expect(parseRequestTarget(target)).toEqual({ path, query });
  });
});

describe('decodeSegment', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['a%20b', 'a b'],
    ['a%2Fb', 'a/b'],
    ['a+b', 'a+b'],
    ['%', '%'],
    ['%2', '%2'],
    ['%zz', '%zz'],
    ['%%41', '%A'],
    ['%C3%A9', 'é'],
    ['%F0%9F%9A%80', '🚀'],
    ['%00', '\0'],
    ['a%25b', 'a%b'],
    ['é%41', 'éA'],
    ['%EF%BB%BFx', '\uFEFFx'],
    ['%FF', undefined],
    ['%C3', undefined],
  ])('%s', (segment, text) => {
    expect(decodeSegment(segment)).toBe(text);
  });
});
