import { afterAll, describe, expect, it } from '@jest/globals';
import { levelOf, parseLogFilter } from './log-filter.js';
import { configureLogging, createLogger, type LogSink } from './logger.js';

const lines: string[] = [];
const sink: LogSink = { write: (text) => lines.push(text) };
const terminal: LogSink = { ...sink, isTTY: true };

afterAll(() => {
  configureLogging({ filter: 'silent', sink: process.stderr });
});

describe('log filter', () => {
  it('takes the longest name that fits', () => {
    const filter = parseLogFilter('warn, worker=debug, worker:invoker=trace, admin=off');
    expect(levelOf(filter, 'worker:invoker')).toBe('trace');
    expect(levelOf(filter, 'worker:partition')).toBe('debug');
    expect(levelOf(filter, 'workers')).toBe('warn');
    expect(levelOf(filter, 'admin:http')).toBe('silent');
    expect(levelOf(parseLogFilter('worker=debug'), 'ingress')).toBe('info');
  });

  it('names what it cannot read', () => {
    expect(() => parseLogFilter('worker=loud')).toThrow('"loud" is no log level');
  });
});

describe('logger', () => {
  it('writes lines for people: time, level, name, message, facts, error', () => {
    configureLogging({ filter: 'info', format: 'compact', sink });
    const log = createLogger('worker:test');
    lines.length = 0;
    log.info({ partition: 3, state: 'leader' }, 'opened');
    log.debug('not heard');
    log.error({ err: Object.assign(new Error('disk gone'), { code: 'storage' }) }, 'append');
    expect(lines[0]).toMatch(/^\d{4}-.*Z info {2}worker:test opened partition=3 state=leader\n$/);
    expect(lines[1]).toContain('[storage]\n  Error: disk gone');
    expect(lines).toHaveLength(2);
  });

  it('keeps a record on one line, whatever the message has in it', () => {
    configureLogging({ filter: 'info', format: 'compact', sink });
    const log = createLogger('worker:test');
    lines.length = 0;
    log.info({ state: 'a\nb' }, 'it said: one\r\n2026-01-01T00:00:00.000Z fatal \u001b[31mtwo');
    expect(lines[0]).toMatch(/ it said: one\\r\\n2026.*\\u001b\[31mtwo state=a\\nb\n$/);
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
  });

  it('lets no message, and no error, steer a terminal or hide a break of the line', () => {
    configureLogging({ filter: 'info', format: 'compact', sink });
    const log = createLogger('worker:test');
    lines.length = 0;
    log.info({ err: new Error('two \u001b[2J') }, 'one \u009b2J\u007f\u2028');
    expect(lines[0]).toContain(' one \\u009b2J\\u007f\\u2028');
    expect(lines[0]).toContain('  Error: two \\u001b[2J\n');
  });

  it('colours on a terminal only, and changes loggers that exist', () => {
    const log = createLogger('worker:test');
    lines.length = 0;
    configureLogging({ filter: 'worker=debug', format: 'pretty', sink: terminal });
    log.debug('heard');
    expect(lines[0]?.includes('\u001b[')).toBe(process.env['NO_COLOR'] === undefined);
    configureLogging({ format: 'json', sink });
    log.info({ a: 1 }, 'as it is');
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      name: 'worker:test',
      a: 1,
      msg: 'as it is',
    });
  });
});
