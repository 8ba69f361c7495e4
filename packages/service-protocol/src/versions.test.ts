import { describe, expect, it } from '@jest/globals';
import { MESSAGE_TYPE, messageTypeName, commandTypeName } from './message-types.js';
import { encodeKeyHeader, invokeSuffix, joinPath } from './paths.js';
import { canResume, invocationContentType, negotiateVersion, overlaps } from './versions.js';

describe('versions', () => {
  it.each([
    [5, 7, undefined, 7],
    [5, 7, 6, 6],
    [6, 99, undefined, 7],
    [3, 5, undefined, 5],
    [7, 7, 6, undefined],
    [8, 9, undefined, undefined],
    [1, 4, undefined, undefined],
  ])('negotiates [%d, %d] under ceiling %p', (min, max, ceiling, version) => {
    expect(negotiateVersion({ min, max }, ceiling)).toBe(version);
  });

  it('judges ranges', () => {
    expect(overlaps({ min: 3, max: 5 })).toBe(true);
    expect(overlaps({ min: 8, max: 9 })).toBe(false);
    expect(overlaps({ min: 1, max: 4 })).toBe(false);
    expect(canResume(6, { min: 5, max: 7 })).toBe(true);
    expect(canResume(7, { min: 5, max: 6 })).toBe(false);
  });

  it('names content types and message types', () => {
    expect(invocationContentType(6)).toBe('application/vnd.restate.invocation.v6');
    expect(messageTypeName(0x0411)).toBe('Run');
    expect(messageTypeName(MESSAGE_TYPE.output)).toBe('Output');
    expect(messageTypeName(0x9999)).toBeUndefined();
    expect(commandTypeName('one-way-call')).toBe('OneWayCall');
  });
});

describe('paths', () => {
  it.each([
    ['', 'discover', '/discover'],
    ['/', 'discover', '/discover'],
    ['/pre/fix', 'discover', '/pre/fix/discover'],
    ['/pre/fix/?q=1', 'discover', '/pre/fix/discover?q=1'],
    ['/pre', invokeSuffix('My.Svc', 'run'), '/pre/invoke/My.Svc/run'],
  ])('joins %s and %s', (target, suffix, joined) => {
    expect(joinPath(target, suffix)).toBe(joined);
  });

  it('encodes keys', () => {
    expect(encodeKeyHeader("a b/c'(!)*~é")).toBe('a%20b%2Fc%27%28%21%29%2A~%C3%A9');
  });
});
