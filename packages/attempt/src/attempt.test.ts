import { describe, expect, it } from '@jest/globals';
import {
  limits,
  randomSeedOf,
  requireInvocationId,
  VOID,
  type CommandType,
  type JournalEntry,
  type NotificationId,
  type NotificationResult,
  type NotificationType,
} from '@engine/domain';
import { COMMAND_CODE, invocationContentType } from '@engine/service-protocol';
import { encodeUtf8, fromHex, toHex } from '@engine/stdx';
import fc from 'fast-check';
import { Attempt } from './attempt.js';
import type { AttemptInput, AttemptOutput, AttemptStart } from './attempt-io.js';

type Entry = JournalEntry;
type NotificationEntry = Extract<Entry, { kind: 'notification' }>;

const CALLER = requireInvocationId('inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9k');
const CALLEE = 'inv_1eVo5PdoISlm4YLYoWJNkRrJSgKcCJKfSh';

const INPUT: Entry = { kind: 'input', headers: [], payload: encodeUtf8('"ada"'), appendedAt: 0 };
const OUTPUT: Entry = {
  kind: 'output',
  name: '',
  result: { kind: 'success', value: encodeUtf8('1') },
  appendedAt: 0,
};

function commandEntry(type: CommandType, raw: string): Entry {
  return { kind: 'command', type, name: '', raw: fromHex(raw), appendedAt: 0 };
}

function notified(
  type: NotificationType,
  id: number | NotificationId,
  result: NotificationResult = VOID,
): NotificationEntry {
  const key = typeof id === 'number' ? ({ kind: 'completion', id } as const) : id;
  return { kind: 'notification', type, id: key, result, appendedAt: 0 };
}

const valueOf = (text: string): NotificationResult => ({ kind: 'value', value: encodeUtf8(text) });

function startWith(more: Partial<AttemptStart> = {}): AttemptStart {
  return {
    invocationId: CALLER,
    target: { kind: 'service', service: 'Greeter', key: undefined, handler: 'demo' },
    protocolVersion: 6,
    mode: 'bidi',
    journal: [INPUT],
    state: { entries: [], complete: false },
    randomSeed: randomSeedOf(CALLER),
    retryCountSinceLastCommand: 0,
    durationSinceLastEntryMs: 1,
    messageSizeBytesMax: limits.MESSAGE_SIZE_BYTES_MAX,
    ...more,
  };
}

/** Drives an attempt and writes down, one line each, what it does. */
class Driver {
  readonly attempt: Attempt;
  readonly log: string[] = [];
  readonly outputs: AttemptOutput[] = [];
  readonly #version: number;

  constructor(more: Partial<AttemptStart> = {}) {
    const start = startWith(more);
    this.#version = start.protocolVersion;
    this.attempt = new Attempt(start);
    this.#note(this.attempt.begin());
  }

  feed(input: AttemptInput): this {
    this.#note(this.attempt.step(input));
    return this;
  }

  head(status = 200, more: { contentType?: string | undefined; retryAfter?: string } = {}): this {
    const contentType = invocationContentType(this.#version);
    const now = Date.UTC(2026, 0, 1);
    return this.feed({
      kind: 'response-head',
      status,
      contentType,
      retryAfter: undefined,
      now,
      ...more,
    });
  }

  /** Frames as `type|payload` or `type+|payload` with the ack flag, in one chunk. */
  data(...frames: string[]): this {
    const bytes = frames.map((frame) => {
      const [type = '', payload = ''] = frame.split('|');
      const flags = type.endsWith('+') ? '8000' : '0000';
      const length = (payload.length / 2).toString(16).padStart(8, '0');
      return type.slice(0, 4) + flags + length + payload;
    });
    return this.feed({ kind: 'response-data', chunk: fromHex(bytes.join('')) });
  }

  stored(index: number, entry: NotificationEntry): this {
    return this.feed({ kind: 'notification-stored', index, entry });
  }

  /** What was written down since the last time. */
  seen(): string[] {
    return this.log.splice(0);
  }

  last(): AttemptOutput | undefined {
    return this.outputs.findLast((output) => output.kind !== 'close-request');
  }

  #note(outputs: readonly AttemptOutput[]): void {
    for (const output of outputs) {
      this.outputs.push(output);
      this.log.push(lineOf(output));
    }
  }
}

function lineOf(output: AttemptOutput): string {
  switch (output.kind) {
    case 'write':
      return `write ${frameTexts(output.bytes).join(' ')}`;
    case 'close-request':
      return 'close';
    case 'command':
      return `command ${output.commandIndex.toString()} ${output.command.type}${output.ackRequested ? ' ack' : ''}`;
    case 'run-completion':
      return `run-completion ${output.completionId.toString()} ${output.result.kind}`;
    case 'awaiting':
      return `awaiting ${output.awaitingOn.kind}`;
    case 'suspended':
      return `suspended ${output.awaitingOn.kind} knowing ${output.knownEntries.toString()}`;
    case 'ended':
      return 'ended';
    case 'failed':
      return `failed ${output.failure.docCode ?? '-'} ${output.failure.code.toString()} ${output.behavior} ${output.retryDelayMs?.toString() ?? '-'} ${output.reachedHandler ? 'reached' : 'unreached'}`;
  }
}

/** The frames of a write; the start only by its type. */
function frameTexts(bytes: Uint8Array): string[] {
  const texts: string[] = [];
  for (let rest = toHex(bytes); rest.length > 0;) {
    const end = 16 + 2 * parseInt(rest.slice(8, 16), 16);
    const type = rest.slice(0, 4);
    texts.push(type === '0000' ? 'start' : `${type}|${rest.slice(16, end)}`);
    rest = rest.slice(end);
  }
  return texts;
}

const INPUT_FRAME = '0400|72070a0522616461' + '22';
const RUN = '0411|58016203726e64';
const PROPOSAL = '|080172023432';
const SLEEP = '040c|08e98ff4d49f345802';
const CALL = '040d|0a0747726565746572120567726565741a0522626f622250035804';
const RESULT = '0401|721a0a187b2272223a34322c2267223a2248656c6c6f20626f62227d';
const END = '0003|';

describe('transcripts', () => {
  it('runs, sleeps and calls in both directions (version 6)', () => {
    const driver = new Driver();
    expect(driver.seen()).toEqual([`write start ${INPUT_FRAME}`]);
    driver.head().data(RUN).data(`0005${PROPOSAL}`);
    expect(driver.seen()).toEqual(['command 1 run', 'run-completion 1 success']);
    driver
      .stored(2, notified('run', 1, valueOf('42')))
      .data(SLEEP)
      .stored(4, notified('sleep', 2));
    expect(driver.seen()).toEqual([
      'write 8011|08012a040a023432',
      'command 2 sleep',
      'write 800c|08022200',
    ]);
    driver.data(CALL);
    driver.stored(6, notified('call-invocation-id', 3, { kind: 'invocation-id', id: CALLEE }));
    driver.stored(7, notified('call', 4, valueOf('"Hello bob"'))).data(RESULT, END);
    expect(driver.seen()).toEqual([
      'command 3 call',
      `write 800e|0803820126${Buffer.from(CALLEE).toString('hex')}`,
      'write 800d|08042a0d0a0b2248656c6c6f20626f6222',
      'command 4 output',
      'ended',
      'close',
    ]);
    expect(driver.attempt.isFinished).toBe(true);
    driver.data(END).feed({ kind: 'response-end' }).feed({ kind: 'abort-timeout' });
    expect(driver.seen()).toEqual([]);
  });

  it('acknowledges a proposal that asks for it (version 7)', () => {
    const driver = new Driver({ protocolVersion: 7 });
    driver.head().data(RUN, `0005+${PROPOSAL}`, '0006|0a080a01011201012801');
    driver.stored(2, notified('run', 1, valueOf('42')));
    expect(driver.seen().slice(1)).toEqual([
      'command 1 run',
      'run-completion 1 success',
      'awaiting first-completed',
      'write 0007|0801',
    ]);
  });

  it('answers a proposal with the whole notification unless version 7 asks otherwise', () => {
    const plain = new Driver({ protocolVersion: 7 });
    plain
      .head()
      .data(RUN, `0005${PROPOSAL}`)
      .stored(2, notified('run', 1, valueOf('42')));
    expect(plain.seen().at(-1)).toBe('write 8011|08012a040a023432');
    const older = new Driver({ protocolVersion: 5 });
    older
      .head()
      .data(RUN, `0005+${PROPOSAL}`)
      .stored(2, notified('run', 1, valueOf('42')));
    expect(older.seen().at(-1)).toBe('write 8011|08012a040a023432');
  });

  it('replays everything in one write, acknowledged runs as notifications', () => {
    const driver = new Driver({
      protocolVersion: 7,
      journal: [
        INPUT,
        commandEntry('run', '58016203726e64'),
        notified('run', 1, valueOf('42')),
        commandEntry('sleep', '08e98ff4d49f345802'),
        notified('sleep', 2),
      ],
    });
    expect(driver.seen()).toEqual([
      `write start ${INPUT_FRAME} ${RUN} 8011|08012a040a023432 ${SLEEP} 800c|08022200`,
    ]);
    driver.head().data(RESULT, END);
    expect(driver.seen()).toEqual(['command 3 output', 'ended', 'close']);
  });

  it('suspends after the inactivity timeout and resumes with a replay', () => {
    const driver = new Driver();
    driver.head().data('040c|08d989f6d49f345801').feed({ kind: 'inactivity-timeout' });
    driver.data('0001|0a0101120101').feed({ kind: 'response-end' });
    expect(driver.seen().slice(1)).toEqual([
      'command 1 sleep',
      'close',
      'suspended unknown knowing 1',
    ]);
  });

  it('ends the request after the replay in request-response mode', () => {
    const driver = new Driver({ protocolVersion: 7, mode: 'request-response' });
    expect(driver.seen()).toEqual([`write start ${INPUT_FRAME}`, 'close']);
    driver.head().data(RUN, `0005+${PROPOSAL}`, '0001|22080a01011201012801');
    driver.stored(2, notified('run', 1, valueOf('42')));
    expect(driver.seen()).toEqual([
      'command 1 run',
      'run-completion 1 success',
      'suspended first-completed knowing 1',
    ]);
  });

  it('delivers a cancel and lets the handler end with a failure', () => {
    const driver = new Driver();
    driver.head().data(SLEEP);
    driver.stored(2, notified('signal', { kind: 'signal', index: 1 }));
    driver.data('0401|7a0e089903120943616e63656c6c6564', END);
    expect(driver.seen().slice(2)).toEqual([
      'write fbff|10012200',
      'command 2 output',
      'ended',
      'close',
    ]);
  });

  it('acknowledges commands that ask for it, while the request is open', () => {
    const driver = new Driver();
    driver.head().data('040c+|08e98ff4d49f345802');
    driver.feed({ kind: 'command-stored', commandIndex: 1 });
    expect(driver.seen().slice(1)).toEqual(['command 1 sleep ack', 'write 0004|0801']);
    driver.feed({ kind: 'inactivity-timeout' }).feed({ kind: 'command-stored', commandIndex: 1 });
    driver.feed({ kind: 'inactivity-timeout' }).stored(2, notified('sleep', 2));
    expect(driver.seen()).toEqual(['close']);
  });

  it('reads frames that are split at any byte', () => {
    const driver = new Driver();
    driver.head();
    const whole = fromHex('0411000000000007' + '58016203726e64' + '0003000000000000');
    for (const byte of whole) driver.feed({ kind: 'response-data', chunk: Uint8Array.of(byte) });
    expect(driver.seen().slice(1)).toEqual([
      'command 1 run',
      'failed RT0012 500 retry - reached',
      'close',
    ]);
  });
});

describe('what the handler knew when it suspended', () => {
  const signal = notified('signal', { kind: 'named-signal', name: 'go' });

  it('counts what was written before the request ended, also behind own commands', () => {
    const driver = new Driver();
    driver.head().data(SLEEP).stored(2, signal).data(SLEEP).stored(4, signal);
    driver.feed({ kind: 'inactivity-timeout' }).stored(5, signal).data('0001|1a02676f');
    expect(driver.last()).toMatchObject({ kind: 'suspended', knownEntries: 5 });
  });

  it('counts only the replay when the handler did not wait for the end of the request', () => {
    const driver = new Driver({ journal: [INPUT, signal] });
    driver.head().stored(2, signal).data('0001|1a02676f');
    expect(driver.last()).toMatchObject({ kind: 'suspended', knownEntries: 2 });
  });
});

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

describe('totality', () => {
  const frame = fc
    .tuple(
      fc.oneof(
        fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 0x400, 0x401, 0x8011, 0xfbff, 0xfc00),
        fc.constantFrom(...Object.values(COMMAND_CODE)),
      ),
      fc.boolean(),
      fc.oneof(
        fc.constantFrom(
          '',
          '5801',
          '72020a00',
          '080172023432',
          '0a0101',
          '22030a0101',
          '0a030a0101',
        ),
        fc.uint8Array({ maxLength: 12 }).map(toHex),
      ),
    )
    .map(([type, ack, payload]) =>
      fromHex(
        type.toString(16).padStart(4, '0') +
          (ack ? '8000' : '0000') +
          (payload.length / 2).toString(16).padStart(8, '0') +
          payload,
      ),
    );
  const head = fc.record({
    kind: fc.constant('response-head' as const),
    status: fc.constantFrom(200, 200, 200, 404, 429),
    contentType: fc.constantFrom(undefined, ...[6, 6, 6, 7].map(invocationContentType)),
    retryAfter: fc.constantFrom(undefined, '1'),
    now: fc.constant(0),
  });
  const data = fc.record({
    kind: fc.constant('response-data' as const),
    chunk: fc.oneof(frame, frame, fc.uint8Array({ maxLength: 20 })),
  });
  const input: fc.Arbitrary<AttemptInput> = fc.oneof(
    { weight: 2, arbitrary: head },
    { weight: 8, arbitrary: data },
    fc.record({
      kind: fc.constant('notification-stored' as const),
      index: fc.nat(10),
      entry: fc.constantFrom(notified('run', 1, valueOf('1')), notified('sleep', 2)),
    }),
    fc.constantFrom<AttemptInput>(
      { kind: 'response-end' },
      { kind: 'transport-error', message: 'x' },
      { kind: 'command-stored', commandIndex: 1 },
      { kind: 'inactivity-timeout' },
      { kind: 'inactivity-timeout' },
      { kind: 'abort-timeout' },
    ),
  );

  it('any inputs in any order: no error, one end, one close, no write after it', () => {
    const settings = fc.record({
      protocolVersion: fc.constantFrom(5, 6, 7),
      mode: fc.constantFrom('bidi' as const, 'request-response' as const),
    });
    const run = fc.property(settings, fc.array(input, { maxLength: 30 }), (more, inputs) => {
      const driver = new Driver(more);
      for (const each of inputs) driver.feed(each);
      const kinds = driver.outputs.map(({ kind }) => kind);
      const ends = kinds.filter((kind) => ['suspended', 'ended', 'failed'].includes(kind));
      const closes = kinds.filter((kind) => kind === 'close-request');
      expect(ends).toHaveLength(driver.attempt.isFinished ? 1 : 0);
      expect(closes.length).toBeLessThanOrEqual(1);
      if (driver.attempt.isFinished) expect(closes).toHaveLength(1);
      const closedAt = kinds.indexOf('close-request');
      if (closedAt >= 0) expect(kinds.slice(closedAt)).not.toContain('write');
    });
    fc.assert(run, { numRuns: 500 });
  });
});
