import { describe, expect, it } from '@jest/globals';
import {
  randomSeedOf,
  requireInvocationId,
  type JournalEntry,
  type NotificationId,
  type NotificationResult,
  type NotificationType,
} from '@engine/domain';
import { encodeUtf8, fromHex, toHex } from '@engine/stdx';
import { encodeFrame, encodeFrames, type OutgoingFrame } from './frames.js';
import {
  InputCommand,
  Notification,
  OutputCommand,
  Start,
} from './gen/service-protocol/messages.js';
import {
  commandAckFrame,
  notificationFrame,
  replayFrame,
  runCompletionAckFrame,
  startFrame,
  type StartFields,
} from './replay.js';

const hexOf = (frame: OutgoingFrame): string => toHex(encodeFrame(frame));

const invocationId = requireInvocationId('inv_1cUZqQKbZFRY445IdJcjCuDQNB6xmSuT9k');
const START: StartFields = {
  invocationId,
  knownEntries: 1,
  state: [],
  isStateComplete: false,
  key: undefined,
  retryCountSinceLastCommand: 0,
  durationSinceLastEntryMs: 1,
  randomSeed: randomSeedOf(invocationId),
};

function notification(
  type: NotificationType,
  id: number | NotificationId,
  result: NotificationResult,
): Extract<JournalEntry, { kind: 'notification' }> {
  const key = typeof id === 'number' ? ({ kind: 'completion', id } as const) : id;
  return { kind: 'notification', type, id: key, result, appendedAt: 0 };
}

const value = (text: string): NotificationResult => ({ kind: 'value', value: encodeUtf8(text) });

describe('start', () => {
  it('is written as captured', () => {
    expect(hexOf(startFrame(START))).toBe(
      '00000000000000530a18bea12c4c1f5e7a960e4ed33ac2c67ec1d0f30fe5009798851226' +
        '696e765f3163555a71514b625a46525934343549644a636a437544514e4236786d537554396b' +
        '1801280140' +
        '0148c0a486aef3c6c383c301',
    );
  });

  it('carries key, complete state and retries', () => {
    const frame = startFrame({
      ...START,
      key: 'k1',
      state: [['count', encodeUtf8('5')]],
      isStateComplete: true,
      retryCountSinceLastCommand: 2,
      durationSinceLastEntryMs: 314,
    });
    const hex = toHex(frame.payload);
    expect(hex).toContain('1801' + '220a0a05636f756e74120135' + '32026b31' + '3802' + '40ba02');
    expect(hex).not.toContain('2801220a');
  });
});

describe('replay', () => {
  it('writes the input as captured', () => {
    const input = (headers: readonly (readonly [string, string])[], payload: string): string =>
      hexOf(
        replayFrame(
          {
            kind: 'input',
            headers: headers.map(([key, text]) => ({ key, value: text })),
            payload: encodeUtf8(payload),
            appendedAt: 0,
          },
          6,
        ),
      );
    expect(input([], '"bob"')).toBe('040000000000000972070a0522626f6222');
    const headers = [
      ['x-restate-ingress-path', '/Greeter/demo'],
      ['user-agent', 'curl/7.88.1'],
      ['accept', '*/*'],
      ['content-type', 'application/json'],
      ['x-user-hdr', 'zz'],
      ['content-length', '5'],
    ] as const;
    expect(input(headers, '"ada"')).toBe(
      '04000000000000a50a270a16782d726573746174652d696e67726573732d70617468120d2f47726565' +
        '7465722f64656d6f0a190a0a757365722d6167656e74120b6375726c2f372e38382e310a0d0a0661636365' +
        '707412032a2f2a0a200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e0a10' +
        '0a0a782d757365722d68647212027a7a0a130a0e636f6e74656e742d6c656e67746812013572070a0522616461' +
        '22',
    );
    expect(input([], '')).toBe('04000000000000027200');
  });

  it('writes commands as the bytes that came', () => {
    const raw = fromHex('08e98ff4d49f345802');
    const entry: JournalEntry = { kind: 'command', type: 'sleep', name: '', raw, appendedAt: 0 };
    expect(hexOf(replayFrame(entry, 6))).toBe('040c00000000000908e98ff4d49f345802');
  });

  it('writes outputs as captured, metadata from version 6 on', () => {
    const output = (version: number, metadata: { key: string; value: string }[]): string =>
      hexOf(
        replayFrame(
          {
            kind: 'output',
            name: '',
            result: { kind: 'failure', failure: { code: 444, message: 'm', metadata } },
            appendedAt: 0,
          },
          version,
        ),
      );
    expect(output(6, [{ key: 'a', value: 'b' }])).toBe(
      '04010000000000107a0e08bc0312016d1a060a0161120162',
    );
    expect(output(5, [{ key: 'a', value: 'b' }])).toBe('04010000000000087a0608bc0312016d');
    const entry: JournalEntry = {
      kind: 'output',
      name: '',
      result: { kind: 'success', value: encodeUtf8('"Hello bob"') },
      appendedAt: 0,
    };
    expect(hexOf(replayFrame(entry, 6))).toBe('040100000000000f720d0a0b2248656c6c6f20626f6222');
  });

  it.each([
    [notification('run', 1, value('42')), '8011000000000008' + '08012a040a023432'],
    [notification('sleep', 2, { kind: 'void' }), '800c000000000004' + '08022200'],
    [
      notification('call-invocation-id', 3, {
        kind: 'invocation-id',
        id: 'inv_1eVo5PdoISlm4YLYoWJNkRrJSgKcCJKfSh',
      }),
      '800e00000000002b0803820126696e765f3165566f3550646f49536c6d34594c596f574a4e6b52724a53674b' +
        '63434a4b665368',
    ],
    [
      notification('call', 4, value('"Hello bob"')),
      '800d00000000001108042a0d0a0b2248656c6c6f20626f6222',
    ],
    [notification('get-lazy-state', 1, value('')), '80020000000000040801' + '2a00'],
    [
      notification('get-lazy-state-keys', 2, { kind: 'state-keys', keys: ['count'] }),
      '800600000000000c' + '08028a01070a05636f756e74',
    ],
    [
      notification('attach-invocation', 1, {
        kind: 'failure',
        failure: { code: 404, message: 'not found', metadata: [] },
      }),
      '8012000000000012' + '0801320e089403' + '12096e6f7420666f756e64',
    ],
    [
      notification('signal', { kind: 'signal', index: 1 }, { kind: 'void' }),
      'fbff000000000004' + '10012200',
    ],
    [
      notification('signal', { kind: 'named-signal', name: 'foo' }, value('"v1"')),
      'fbff00000000000d' + '1a03666f6f2a060a0422763122',
    ],
  ])('writes %j as captured', (entry, hex) => {
    expect(hexOf(notificationFrame(entry, 6))).toBe(hex);
    expect(hexOf(replayFrame(entry, 7))).toBe(hex);
  });

  it('writes large values as they are, behind everything else', () => {
    const content = new Uint8Array(100_000).fill(9);
    const input = replayFrame(
      { kind: 'input', headers: [{ key: 'a', value: 'b' }], payload: content, appendedAt: 0 },
      6,
    );
    const result = { kind: 'success', value: content } as const;
    const output = replayFrame({ kind: 'output', name: 'n', result, appendedAt: 0 }, 6);
    const completion = notificationFrame(
      notification('run', 300, { kind: 'value', value: content }),
      6,
    );
    const start = startFrame({
      ...START,
      state: [
        ['small', Uint8Array.of(1)],
        ['large', content],
      ],
    });
    for (const frame of [input, output, completion, start]) {
      expect(frame.rest?.at(-1)).toBe(content);
    }
    const payloadOf = (frame: OutgoingFrame) => encodeFrame(frame).subarray(8);
    expect(InputCommand.decode(payloadOf(input))).toMatchObject({
      headers: [{ key: 'a', value: 'b' }],
      value: { content },
    });
    expect(OutputCommand.decode(payloadOf(output))).toMatchObject({
      name: 'n',
      result: { $case: 'value', value: { content } },
    });
    expect(Notification.decode(payloadOf(completion))).toMatchObject({
      id: { $case: 'completionId', value: 300 },
      result: { $case: 'value', value: { content } },
    });
    const { stateMap } = Start.decode(payloadOf(start));
    expect(stateMap.map(({ key, value }) => [Buffer.from(key).toString(), value.length])).toEqual([
      ['small', 1],
      ['large', 100_000],
    ]);
  });

  it('writes acknowledgements', () => {
    expect(hexOf(runCompletionAckFrame(1))).toBe('0007000000000002' + '0801');
    expect(hexOf(commandAckFrame(3))).toBe('0004000000000002' + '0803');
    expect(toHex(encodeFrames([]))).toBe('');
  });
});
