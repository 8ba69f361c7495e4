import { describe, expect, it } from '@jest/globals';
import { limits } from '@engine/domain';
import { concatBytes, encodeUtf8, fromHex } from '@engine/stdx';
import fc from 'fast-check';
import type { Future } from './gen/service-protocol/messages.js';
import {
  AwaitingOn,
  CallCommand,
  OneWayCallCommand,
  TreeSuspension,
} from './gen/service-protocol/messages.js';
import { FrameDecoder } from './frames.js';
import { decodeHandlerMessage, type HandlerMessage } from './handler-message.js';

/** `type|payload` in hex, as on the wire but for flags and length. */
function message(hex: string, version = 6, ackRequested = false): HandlerMessage {
  const [type = '', payload = ''] = hex.split('|');
  const frame = {
    kind: 'frame',
    type: parseInt(type, 16),
    ackRequested,
    payload: fromHex(payload),
  } as const;
  return decodeHandlerMessage(frame, version);
}

function command(hex: string, version = 6): object {
  const decoded = message(hex, version);
  if (decoded.kind !== 'command') throw new Error(JSON.stringify(decoded));
  const [, payload = ''] = hex.split('|');
  expect(decoded.command.raw).toEqual(fromHex(payload));
  return { ...decoded.command, raw: undefined };
}

const text = (value: string): string => Buffer.from(value).toString('hex');
const bytes = (value: string): Uint8Array => encodeUtf8(value);
const NAMELESS = { name: '', raw: undefined };

describe('captured commands', () => {
  it.each<[string, object]>([
    ['0411|58016203726e64', { type: 'run', name: 'rnd', completionId: 1 }],
    ['040c|08e98ff4d49f345802', { type: 'sleep', wakeUpTime: 1795205957609, completionId: 2 }],
    [
      '0401|720d0a0b2248656c6c6f20626f6222',
      { type: 'output', result: { kind: 'success', value: bytes('"Hello bob"') } },
    ],
    [
      '0401|7a0e089903120943616e63656c6c6564',
      {
        type: 'output',
        result: { kind: 'failure', failure: { code: 409, message: 'Cancelled', metadata: [] } },
      },
    ],
    [
      '0401|7a0e08bc0312016d1a060a0161120162',
      {
        type: 'output',
        result: {
          kind: 'failure',
          failure: { code: 444, message: 'm', metadata: [{ key: 'a', value: 'b' }] },
        },
      },
    ],
    ['0407|0a05636f756e746a00', { type: 'get-eager-state' }],
    ['0403|0a05636f756e741a030a0135', { type: 'set-state', key: 'count', value: bytes('5') }],
    ['0408|72070a05636f756e74', { type: 'get-eager-state-keys' }],
    ['0402|0a05636f756e745801', { type: 'get-lazy-state', key: 'count', completionId: 1 }],
    ['0406|5802', { type: 'get-lazy-state-keys', completionId: 2 }],
    ['0404|0a016b', { type: 'clear-state', key: 'k' }],
    ['0405|', { type: 'clear-all-state' }],
    ['0409|0a01705801', { type: 'get-promise', key: 'p', completionId: 1 }],
    ['040a|0a01705801', { type: 'peek-promise', key: 'p', completionId: 1 }],
    [
      '040b|0a017012070a05227369672258' + '02',
      {
        type: 'complete-promise',
        key: 'p',
        completion: { kind: 'success', value: bytes('"sig"') },
        completionId: 2,
      },
    ],
    [
      '0410|0a26696e765f316963544c5947416b6d71683277764468346371373778724e6d7a6153756756544810012200',
      {
        type: 'send-signal',
        target: 'inv_1icTLYGAkmqh2wvDh4cq77xrNmzaSugVTH',
        signal: { kind: 'signal', index: 1 },
        result: { kind: 'void' },
      },
    ],
    [
      '0410|0a01741a03666f6f2a060a0422763122',
      {
        type: 'send-signal',
        target: 't',
        signal: { kind: 'named-signal', name: 'foo' },
        result: { kind: 'value', value: bytes('"v1"') },
      },
    ],
    [
      `0412|0a03${text('inv')}5801`,
      {
        type: 'attach-invocation',
        query: { kind: 'invocation', id: 'inv' },
        completionId: 1,
      },
    ],
    [
      `0413|2206${'0a0157'}${'12016b'}5801`,
      {
        type: 'get-invocation-output',
        query: { kind: 'workflow', service: 'W', key: 'k', scope: undefined },
        completionId: 1,
      },
    ],
    [
      '0412|1a090a0153' + '1a0168' + '22016b' + '5801',
      {
        type: 'attach-invocation',
        query: {
          kind: 'idempotent',
          service: 'S',
          key: undefined,
          handler: 'h',
          idempotencyKey: 'k',
          scope: undefined,
        },
        completionId: 1,
      },
    ],
    [
      '0414|0a01611203' + '0a0131',
      {
        type: 'complete-awakeable',
        awakeableId: 'a',
        result: { kind: 'success', value: bytes('1') },
      },
    ],
  ])('reads %s', (hex, expected) => {
    expect(command(hex)).toEqual({ ...NAMELESS, ...expected });
  });

  it('reads calls and one-way calls, whose numbers are shifted', () => {
    const callee = {
      service: 'Greeter',
      handler: 'greet',
      key: '',
      parameter: bytes('"bob"'),
      headers: [],
      idempotencyKey: undefined,
      scope: undefined,
      limitKey: undefined,
    };
    expect(command('040d|0a0747726565746572120567726565741a0522626f622250035804')).toEqual({
      ...NAMELESS,
      ...callee,
      type: 'call',
      invocationIdCompletionId: 3,
      resultCompletionId: 4,
    });
    const sent = '0a0747726565746572120567726565741a0522626f6222';
    expect(command(`040e|${sent}20fca1f6d49f345001`)).toEqual({
      ...NAMELESS,
      ...callee,
      type: 'one-way-call',
      invokeTime: 1795205992700,
      invocationIdCompletionId: 1,
    });
  });

  it('keeps headers, keys and scopes of calls', () => {
    const fields = {
      serviceName: 'S',
      handlerName: 'h',
      parameter: bytes('p'),
      headers: [{ key: 'a', value: 'b' }],
      key: 'k',
      idempotencyKey: '',
      scope: 's',
      limitKey: '',
      invocationIdNotificationIdx: 1,
      resultCompletionId: 2,
      name: 'n',
    };
    const expected = {
      name: 'n',
      key: 'k',
      idempotencyKey: '',
      scope: 's',
      limitKey: undefined,
      headers: [{ key: 'a', value: 'b' }],
    };
    const call = Buffer.from(CallCommand.encode(fields).finish()).toString('hex');
    expect(command(`040d|${call}`)).toMatchObject(expected);
    const send = OneWayCallCommand.encode({ ...fields, invokeTime: 0n }).finish();
    expect(command(`040e|${Buffer.from(send).toString('hex')}`)).toMatchObject({
      ...expected,
      invokeTime: undefined,
    });
  });
});

describe('captured control messages', () => {
  it('reads run proposals', () => {
    expect(message('0005|080172023432', 7, true)).toEqual({
      kind: 'propose-run-completion',
      completionId: 1,
      result: { kind: 'success', value: bytes('42') },
      ackRequested: true,
    });
    expect(message('0005|08017a0908f4031204626f6f6d')).toMatchObject({
      result: { kind: 'failure', failure: { code: 500, message: 'boom' } },
    });
  });

  it('reads flat suspensions as a wait for any', () => {
    expect(message('0001|0a0301030412020111')).toEqual({
      kind: 'suspension',
      awaitingOn: {
        kind: 'unknown',
        children: [
          ...[1, 3, 4].map((id) => ({ kind: 'single', id: { kind: 'completion', id } })),
          ...[1, 17].map((index) => ({ kind: 'single', id: { kind: 'signal', index } })),
        ],
      },
    });
  });

  it('reads suspension trees', () => {
    const completion = (id: number): object => ({ kind: 'single', id: { kind: 'completion', id } });
    const signal = (index: number): object => ({ kind: 'single', id: { kind: 'signal', index } });
    const tree =
      '2217' + '120101' + '2210' + '0a0101' + '120111' + '22060a0203042804' + '2803' + '2801';
    expect(message(`0001|${tree}`, 7)).toEqual({
      kind: 'suspension',
      awaitingOn: {
        kind: 'first-completed',
        children: [
          signal(1),
          {
            kind: 'first-succeeded-or-all-failed',
            children: [
              completion(1),
              signal(17),
              { kind: 'all-succeeded-or-first-failed', children: [completion(3), completion(4)] },
            ],
          },
        ],
      },
    });
    expect(message('0006|0a080a01011201012801', 7)).toEqual({
      kind: 'awaiting-on',
      awaitingOn: { kind: 'first-completed', children: [completion(1), signal(1)] },
    });
    expect(message('0006|0a080a01011201012801', 6)).toMatchObject({ code: 'RT0012' });
  });

  it('reads unpacked lists, names and unknown combinators', () => {
    expect(message('0001|2209' + '0801' + '0802' + '1a0161' + '2809', 7)).toEqual({
      kind: 'suspension',
      awaitingOn: {
        kind: 'unknown',
        children: [
          { kind: 'single', id: { kind: 'completion', id: 1 } },
          { kind: 'single', id: { kind: 'completion', id: 2 } },
          { kind: 'single', id: { kind: 'named-signal', name: 'a' } },
        ],
      },
    });
  });

  it('reads errors, and their behavior from version 7 on', () => {
    const hex = `0002|08f4031204${text('boom')}2001` + '2a0166' + '309108' + '4064' + '4801';
    const error = {
      code: 500,
      message: 'boom',
      stacktrace: undefined,
      relatedCommandIndex: 1,
      relatedCommandName: 'f',
      relatedCommandType: 'Run',
      nextRetryDelayMs: 100,
    };
    expect(message(hex, 7)).toEqual({ kind: 'error', error: { ...error, behavior: 'pause' } });
    expect(message(hex, 6)).toEqual({ kind: 'error', error: { ...error, behavior: 'retry' } });
    expect(message('0002|08ffff7f4807', 7)).toMatchObject({
      error: { code: 500, behavior: 'retry', relatedCommandType: undefined },
    });
  });

  it('reads the end', () => {
    expect(message('0003|')).toEqual({ kind: 'end' });
  });
});

describe('violations', () => {
  it.each([
    ['a start', '0000|'],
    ['an input', '0400|7200'],
    ['an ack', '0004|0801'],
    ['a notification', '8011|08012200'],
    ['a run ack', '0007|0801'],
    ['an unknown control code', '0200|'],
    ['an unknown command code', '0450|'],
    ['a custom command', 'fc01|'],
    ['an output without a result', '0401|'],
    ['a proposal without a result', '0005|0801'],
    ['a signal without a target signal', '0410|0a01742200'],
    ['a promise without a completion', '040b|0a01705801'],
    ['a state key that is no text', '0404|0a01ff'],
    ['cut bytes', '0401|720d0a'],
    ['a flat suspension on nothing', '0001|'],
  ])('%s is refused with RT0012', (_what, hex) => {
    expect(message(hex)).toMatchObject({ kind: 'fault', code: 'RT0012' });
  });

  it.each([
    ['no tree', ''],
    ['an empty tree', '2200'],
    ['an empty nested node', '220422002801'],
    ['a length beyond the end', '227f0a0101'],
  ])('a tree suspension with %s is refused with RT0012', (_what, hex) => {
    expect(message(`0001|${hex}`, 7)).toMatchObject({ kind: 'fault', code: 'RT0012' });
  });

  it('a wait for more than any journal holds is refused, before it fills the memory', () => {
    const varint = (value: number): number[] =>
      value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
    const part = (tag: number, bytes: Uint8Array): Uint8Array =>
      concatBytes([Uint8Array.of(tag, ...varint(bytes.length)), bytes]);
    const suspend = (version: number, payload: Uint8Array): HandlerMessage =>
      decodeHandlerMessage({ kind: 'frame', type: 0x0001, ackRequested: false, payload }, version);
    const completions = (count: number): Uint8Array => part(0x0a, new Uint8Array(count).fill(1));
    const names = (count: number): Uint8Array =>
      Uint8Array.from({ length: 2 * count }, (_, i) => (i % 2 === 0 ? 0x1a : 0));
    const max = limits.JOURNAL_LENGTH_MAX;
    for (const leaves of [completions, names]) {
      expect(suspend(6, leaves(max)).kind).toBe('suspension');
      expect(suspend(7, part(0x22, leaves(max))).kind).toBe('suspension');
      const refused = { kind: 'fault', code: 'RT0012' };
      expect(suspend(6, leaves(max + 1))).toMatchObject(refused);
      expect(suspend(7, part(0x22, leaves(max + 1)))).toMatchObject(refused);
    }
    const two = concatBytes([completions(max), part(0x22, completions(1))]);
    expect(suspend(7, part(0x22, two))).toMatchObject({ kind: 'fault', code: 'RT0012' });
  });

  it.each([
    ['headers of a call', '040d', '2200', undefined],
    ['headers of a send', '040e', '2a00', undefined],
    ['metadata of a failed output', '0401', '1a00', 0x7a],
    ['metadata of a failed run', '0005', '1a00', 0x7a],
    ['metadata of a rejected promise', '040b', '1a00', 0x1a],
    ['metadata of a failed signal', '0410', '1a00', 0x32],
    ['metadata of a rejected awakeable', '0414', '1a00', 0x1a],
    ['keys of the state', '0408', '0a00', 0x72],
  ])('too many %s are refused, before they fill the memory', (_what, type, part, within) => {
    const crowd = fromHex(part.repeat(100_001));
    const length = crowd.length;
    const head = [(length % 128) + 128, ((length >> 7) % 128) + 128, length >> 14];
    const payload =
      within === undefined ? crowd : concatBytes([Uint8Array.of(within, ...head), crowd]);
    const frame = {
      kind: 'frame',
      type: parseInt(type, 16),
      ackRequested: false,
      payload,
    } as const;
    const message = 'has more than 100000 fields';
    expect(decodeHandlerMessage(frame, 7)).toMatchObject({
      code: 'RT0012',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('a tree may have 1000 levels and no more (RT0025), however deep the bytes go', () => {
    const nested = (depth: number): Future => {
      let future = leaf();
      for (let i = 1; i < depth; i++)
        future = { ...leaf(), waitingCompletions: [], nestedFutures: [future] };
      return future;
    };
    const leaf = (): Future => ({
      waitingCompletions: [1],
      waitingSignals: [],
      waitingNamedSignals: [],
      nestedFutures: [],
      combinatorType: 1,
    });
    const suspend = (depth: number): HandlerMessage =>
      decodeHandlerMessage(
        {
          kind: 'frame',
          type: 0x0001,
          ackRequested: false,
          payload: TreeSuspension.encode({ awaitingOn: nested(depth) }).finish(),
        },
        7,
      );
    expect(suspend(1000).kind).toBe('suspension');
    expect(suspend(1001)).toMatchObject({ kind: 'fault', code: 'RT0025' });
    expect(suspend(2500)).toMatchObject({ kind: 'fault', code: 'RT0025' });
    const hint = AwaitingOn.encode({ awaitingOn: nested(1001), executingSideEffects: false });
    expect(
      decodeHandlerMessage(
        { kind: 'frame', type: 0x0006, ackRequested: false, payload: hint.finish() },
        7,
      ),
    ).toMatchObject({ code: 'RT0025' });
  });

  it('never throws, whatever the bytes', () => {
    const known = fc.constantFrom(1, 2, 3, 5, 6, 0x401, 0x40b, 0x40d, 0x40e, 0x410, 0x412, 0x413);
    const type = fc.oneof(known, fc.integer({ min: 0x400, max: 0x415 }), fc.nat(0xffff));
    const payload = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc
        .array(fc.constantFrom(0x0a, 0x12, 0x22, 0x72, 0x7a, 0, 1, 2, 3, 0x28), { maxLength: 40 })
        .map((values) => Uint8Array.from(values)),
    );
    fc.assert(
      fc.property(type, payload, fc.constantFrom(5, 6, 7), (code, content, version) => {
        const frame = { kind: 'frame', type: code, ackRequested: false, payload: content } as const;
        expect(typeof decodeHandlerMessage(frame, version).kind).toBe('string');
      }),
      { numRuns: 2000 },
    );
  });

  it('a decoder fed with noise gives frames or a fault', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 32 })), (chunks) => {
        const decoder = new FrameDecoder(1024);
        for (const chunk of chunks) {
          decoder.push(chunk);
          for (let next = decoder.next(); next !== undefined; next = decoder.next()) {
            if (next.kind === 'fault') return;
            decodeHandlerMessage(next, 7);
          }
        }
      }),
    );
  });
});
