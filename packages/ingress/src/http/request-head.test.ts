import { describe, expect, it } from '@jest/globals';
import { findBadHeader, readHead } from './request-head.js';

const seen = (raw: readonly string[]): readonly (readonly [string, string])[] =>
  readHead(raw, '/a').forwarded.map(({ key, value }) => [key, value]);

describe('readHead', () => {
  it('shows the handler the path first, under both names, then the headers of the caller', () => {
    expect(seen(['Accept', 'text/html', 'x-empty', '', ':path', '/a'])).toEqual([
      ['x-engine-ingress-path', '/a'],
      ['x-restate-ingress-path', '/a'],
      ['accept', 'text/html'],
      ['x-empty', ''],
    ]);
  });

  it('keeps what belongs to the connection and to idempotency from the handler', () => {
    const raw = [
      'Host',
      'h',
      'Connection',
      'close',
      'Idempotency-Key',
      'k',
      'idempotency-expires',
      'never',
    ];
    expect(seen(raw)).toHaveLength(2);
    expect(readHead(raw, '/a').idempotencyKey).toBe('k');
  });

  it('keeps the first of repeated values', () => {
    const head = readHead(
      ['x-a', '1', 'X-A', '2', 'idempotency-key', '', 'idempotency-key', 'b'],
      '/a',
    );
    expect(head.forwarded.filter(({ key }) => key === 'x-a')).toEqual([{ key: 'x-a', value: '1' }]);
    expect(head.idempotencyKey).toBe('');
  });

  it('forwards an ingress path that the caller made up, behind the true one', () => {
    expect(seen(['x-engine-ingress-path', '/fake']).at(-1)).toEqual([
      'x-engine-ingress-path',
      '/fake',
    ]);
  });

  it('finds values that are not visible ASCII', () => {
    expect(findBadHeader(readHead(['x-ok', 'a\tb~ ', 'x-bad', 'caf\xe9'], '/a'))).toBe('x-bad');
    expect(findBadHeader(readHead(['host', '\xe9'], '/a'))).toBeUndefined();
  });
});
