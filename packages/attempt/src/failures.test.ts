import { describe, expect, it } from '@jest/globals';
import { limits } from '@engine/domain';
import { invocationContentType } from '@engine/service-protocol';
import { fromHex, toHex } from '@engine/stdx';
import { INPUT, OUTPUT, Driver, SLEEP, CALL, RESULT, END } from './testing/driver.js';

describe('response heads', () => {
  const future = new Date(Date.UTC(2026, 0, 1, 0, 0, 30)).toUTCString();
  const past = new Date(Date.UTC(2025, 0, 1)).toUTCString();

  it.each<[number, { contentType?: string | undefined; retryAfter?: string }, string]>([
    [200, { contentType: undefined }, 'RT0012 500 retry -'],
    [200, { contentType: 'application/json' }, 'RT0012 500 retry -'],
    [200, { contentType: 'application/vnd.restate.invocation.v7' }, 'RT0012 500 retry -'],
    [200, { contentType: `${invocationContentType(6)}; a=b` }, 'RT0012 500 retry -'],
    [415, {}, 'RT0015 415 retry -'],
    [413, {}, 'RT0019 500 retry -'],
    [429, {}, 'RT0023 500 retry -'],
    [429, { retryAfter: '3' }, 'RT0023 500 retry 3000'],
    [503, { retryAfter: '0' }, 'RT0023 500 retry 0'],
    [503, { retryAfter: future }, 'RT0023 500 retry 30000'],
    [503, { retryAfter: past }, 'RT0023 500 retry -'],
    [503, { retryAfter: 'soon' }, 'RT0023 500 retry -'],
    [503, { retryAfter: '-1' }, 'RT0023 500 retry -'],
    [503, { retryAfter: '1.5' }, 'RT0023 500 retry -'],
    [503, { retryAfter: '' }, 'RT0023 500 retry -'],
    [429, { retryAfter: '9'.repeat(400) }, `RT0023 500 retry ${String(limits.RETRY_DELAY_MS_MAX)}`],
    [
      429,
      { retryAfter: 'Fri, 31 Dec 9999 23:59:59 GMT' },
      `RT0023 500 retry ${String(limits.RETRY_DELAY_MS_MAX)}`,
    ],
    [502, { retryAfter: '3' }, 'RT0010 500 retry -'],
    [504, {}, 'RT0010 500 retry -'],
    [404, {}, 'RT0012 500 retry -'],
    [401, {}, 'RT0012 500 retry -'],
    [500, {}, 'RT0012 500 retry -'],
    [301, {}, 'RT0012 500 retry -'],
  ])('%d %j fails the attempt', (status, more, text) => {
    const driver = new Driver().head(status, more);
    expect(driver.seen().slice(1)).toEqual([`failed ${text} unreached`, 'close']);
  });

  it('takes any 2xx', () => {
    expect(new Driver().head(201).data(RESULT, END).last()?.kind).toBe('ended');
  });

  it('takes a body only behind a head', () => {
    expect(new Driver().data(END).seen()[1]).toBe('failed RT0012 500 retry - unreached');
  });
});

describe('failures', () => {
  const failedWith = (driver: Driver): string =>
    driver.log.find((l) => l.startsWith('failed')) ?? '';

  it('an end needs an output, of this attempt or an earlier one', () => {
    expect(failedWith(new Driver().head().data(END))).toBe('failed RT0012 500 retry - reached');
    expect(new Driver({ journal: [INPUT, OUTPUT] }).head().data(END).last()?.kind).toBe('ended');
  });

  it.each([
    [6, '08f4031204626f6f6d20012a0166309108' + '4064', 'RT0007 500 retry 100'],
    [
      6,
      '08f403' + '40ffffffffffffffffff01',
      `RT0007 500 retry ${String(limits.RETRY_DELAY_MS_MAX)}`,
    ],
    [7, '08f4031204626f6f6d20012a0170309108' + '4801', 'RT0007 500 pause -'],
    [7, '08fb03' + '4802', 'RT0007 507 fail -'],
    [6, '08fb03' + '4802', 'RT0007 507 retry -'],
    [6, '08ba04', 'RT0016 570 retry -'],
    [6, '08bb04', 'RT0012 571 retry -'],
    [6, '08bc04', 'RT0007 572 retry -'],
  ])('version %d reports %s', (protocolVersion, payload, text) => {
    const driver = new Driver({ protocolVersion }).head().data(`0002|${payload}`, END);
    expect(driver.seen().slice(1)).toEqual([`failed ${text} reached`, 'close']);
  });

  it('keeps what the handler says of the failing command', () => {
    const driver = new Driver().head().data('0002|08f4031204626f6f6d20012a0166309108');
    expect(driver.last()).toMatchObject({
      failure: {
        message: 'boom',
        relatedCommandIndex: 1,
        relatedCommandName: 'f',
        relatedCommandType: 'Run',
      },
    });
  });

  it('a response that just ends is a failure', () => {
    const end = { kind: 'response-end' } as const;
    expect(failedWith(new Driver().feed(end))).toBe('failed RT0010 500 retry - unreached');
    expect(failedWith(new Driver().head().feed(end))).toBe('failed RT0007 500 retry - reached');
    const torn = new Driver().head().feed({ kind: 'response-data', chunk: fromHex('0411') });
    expect(torn.feed(end).last()).toMatchObject({
      failure: { message: expect.stringContaining('in the middle') as unknown },
    });
  });

  it('names broken connections, timeouts and messages over the limit', () => {
    const broken = { kind: 'transport-error', message: 'reset' } as const;
    expect(failedWith(new Driver().feed(broken))).toBe('failed RT0010 500 retry - unreached');
    const idle = new Driver().head().feed({ kind: 'inactivity-timeout' });
    expect(failedWith(idle.feed({ kind: 'abort-timeout' }))).toBe(
      'failed RT0001 500 retry - reached',
    );
    const large = new Driver({ messageSizeBytesMax: 10 }).head();
    const limit = 10 + limits.MESSAGE_OVERHEAD_BYTES_MAX;
    const header = `04010000${limit.toString(16).padStart(8, '0')}`;
    large.feed({ kind: 'response-data', chunk: fromHex(header) });
    expect(failedWith(large)).toBe('failed RT0003 500 retry - reached');
  });

  it('refuses frames that only the server sends, and unknown ones, but keeps what came before', () => {
    const driver = new Driver().head().data(SLEEP, '8011|08012200', SLEEP);
    expect(driver.seen().slice(1)).toEqual([
      'command 1 sleep',
      'failed RT0012 500 retry - reached',
      'close',
    ]);
    expect(failedWith(new Driver().head().data('0450|'))).toContain('RT0012');
    expect(failedWith(new Driver().head().data('0001|'))).toContain('RT0012');
  });

  it('pauses on an await tree that is too deep', () => {
    let tree = '0a0101';
    for (let i = 0; i < limits.AWAIT_DEPTH_MAX; i++) tree = `22${varint(tree.length / 2)}${tree}`;
    const driver = new Driver({ protocolVersion: 7 }).head();
    driver.data(`0001|22${varint(tree.length / 2)}${tree}`);
    expect(failedWith(driver)).toBe('failed RT0025 500 pause - reached');
  });

  it('ends with the failure of a refused command', () => {
    const failure = {
      code: 500,
      docCode: 'RT0018',
      message: 'no such handler',
      stacktrace: undefined,
      relatedCommandIndex: 1,
      relatedCommandName: undefined,
      relatedCommandType: 'Call',
    };
    const driver = new Driver().head().data(CALL).feed({ kind: 'command-refused', failure });
    driver.data(SLEEP);
    expect(driver.seen().slice(1)).toEqual([
      'command 1 call',
      'failed RT0018 500 retry - reached',
      'close',
    ]);
    expect(driver.last()).toMatchObject({ failure });
  });
});

function varint(value: number): string {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return toHex(Uint8Array.from([...bytes, rest]));
}
