import { describe, expect, it } from '@jest/globals';
import {
  DEFAULT_RETRY_POLICY,
  invocationIdFromBytes,
  SchemaLookup,
  type JournalEntry,
} from '@engine/domain';
import { fromHex } from '@engine/stdx';
import { entryJson, entryLiteJson } from './entry-json.js';

type CommandEntry = Extract<JournalEntry, { kind: 'command' }>;
type Notification = Extract<JournalEntry, { kind: 'notification' }>;

const callee = invocationIdFromBytes(new Uint8Array(24));
const schema = new SchemaLookup(
  { deployments: [] },
  {
    inactivityTimeoutMs: 60_000,
    abortTimeoutMs: 600_000,
    journalRetentionMs: 0,
    idempotencyRetentionMs: 0,
    workflowCompletionRetentionMs: 0,
    retryPolicy: DEFAULT_RETRY_POLICY,
  },
);

function both(entry: JournalEntry): readonly [unknown, unknown] {
  return [JSON.parse(entryJson(entry, schema)), JSON.parse(entryLiteJson(entry, schema))];
}

const command = (type: CommandEntry['type'], hex: string, name = ''): CommandEntry => ({
  kind: 'command',
  type,
  name,
  raw: fromHex(hex),
  callee: type === 'call' || type === 'one-way-call' ? callee : undefined,
  appendedAt: 0,
});

const notification = (
  type: Notification['type'],
  id: Notification['id'],
  result: Notification['result'],
): Notification => ({ kind: 'notification', type, id, result, appendedAt: 0 });

const CALL_TARGET = {
  VirtualObject: { name: 'C', key: 'k', handler: 'add', handler_ty: 'Exclusive', scope: null },
};

describe('JSON of commands', () => {
  it('input and output', () => {
    const payload = Uint8Array.of(7);
    const headers = [{ key: 'a', value: 'b' }];
    expect(both({ kind: 'input', headers, payload, appendedAt: 0 })).toEqual([
      { Command: { Input: { headers: [{ name: 'a', value: 'b' }], payload: [7], name: '' } } },
      { Command: { Input: {} } },
    ]);
    const failure = { code: 409, message: 'no', metadata: [] };
    const output = { kind: 'output', name: '', appendedAt: 0 } as const;
    expect(both({ ...output, result: { kind: 'success', value: payload } })).toEqual([
      { Command: { Output: { result: { Success: [7] }, name: '' } } },
      { Command: { Output: { result: 'Success' } } },
    ]);
    expect(both({ ...output, result: { kind: 'failure', failure } })).toEqual([
      { Command: { Output: { result: { Failure: { code: 409, message: 'no' } }, name: '' } } },
      { Command: { Output: { result: 'Failure' } } },
    ]);
  });

  it.each([
    [
      command('run', '58016203726e64', 'rnd'),
      { Run: { completion_id: 1, name: 'rnd' } },
      { Run: { completion_id: 1, name: 'rnd' } },
    ],
    [
      command('sleep', '08e98ff4d49f345802'),
      { Sleep: { wake_up_time: 1795205957609, completion_id: 2, name: '' } },
      { Sleep: { wake_up_time: 1795205957609, completion_id: 2 } },
    ],
    [
      command('set-state', '0a05636f756e741a030a0135'),
      { SetState: { key: 'count', value: [0x35], name: '' } },
      { SetState: { key: 'count' } },
    ],
    [
      command('get-eager-state', '0a05636f756e746a00'),
      { GetEagerState: { key: 'count', result: 'Void', name: '' } },
      { GetEagerState: { key: 'count', result: 'Void' } },
    ],
    [
      command('get-eager-state', '0a05636f756e7472030a0135'),
      { GetEagerState: { key: 'count', result: { Success: [0x35] }, name: '' } },
      { GetEagerState: { key: 'count', result: 'Success' } },
    ],
    [
      command('get-eager-state-keys', '72070a05636f756e74'),
      { GetEagerStateKeys: { state_keys: ['count'], name: '' } },
      { GetEagerStateKeys: {} },
    ],
    [command('clear-all-state', ''), { ClearAllState: { name: '' } }, { ClearAllState: {} }],
    [
      command('complete-promise', '0a017012070a0522736967225802'),
      {
        CompletePromise: {
          key: 'p',
          value: { Success: [0x22, 0x73, 0x69, 0x67, 0x22] },
          completion_id: 2,
          name: '',
        },
      },
      { CompletePromise: { key: 'p', completion_id: 2 } },
    ],
    [
      command('send-signal', '0a01741a03666f6f2a060a0422763122'),
      {
        SendSignal: {
          target_invocation_id: 't',
          signal_id: { Name: 'foo' },
          result: { Success: [0x22, 0x76, 0x31, 0x22] },
          name: '',
        },
      },
      {
        SendSignal: { target_invocation_id: 't', signal_id: { Name: 'foo' }, result: 'Success' },
      },
    ],
    [
      command('attach-invocation', '0a03696e765801'),
      { AttachInvocation: { target: { InvocationId: 'inv' }, completion_id: 1, name: '' } },
      { AttachInvocation: { target: { InvocationId: 'inv' }, completion_id: 1 } },
    ],
    [
      command('call', '0a014312036164641a01312a016b50015802'),
      {
        Call: {
          request: {
            invocation_id: callee,
            invocation_target: CALL_TARGET,
            parameter: [0x31],
            headers: [],
            idempotency_key: null,
          },
          invocation_id_completion_id: 1,
          result_completion_id: 2,
          name: '',
        },
      },
      {
        Call: {
          invocation_id: callee,
          invocation_target: CALL_TARGET,
          invocation_id_completion_id: 1,
          result_completion_id: 2,
        },
      },
    ],
  ])('%j', (entry, full, lite) => {
    expect(both(entry)).toEqual([{ Command: full }, { Command: lite }]);
  });
});

describe('JSON of notifications', () => {
  it.each([
    [
      notification(
        'run',
        { kind: 'completion', id: 1 },
        { kind: 'value', value: Uint8Array.of(1) },
      ),
      { Completion: { Run: { completion_id: 1, result: { Success: [1] } } } },
      { ty: { Completion: 'Run' }, id: { CompletionId: 1 }, result: 'Success' },
    ],
    [
      notification('sleep', { kind: 'completion', id: 1 }, { kind: 'void' }),
      { Completion: { Sleep: { completion_id: 1 } } },
      { ty: { Completion: 'Sleep' }, id: { CompletionId: 1 }, result: 'Void' },
    ],
    [
      notification(
        'call-invocation-id',
        { kind: 'completion', id: 1 },
        { kind: 'invocation-id', id: callee },
      ),
      { Completion: { CallInvocationId: { completion_id: 1, invocation_id: callee } } },
      { ty: { Completion: 'CallInvocationId' }, id: { CompletionId: 1 }, result: 'InvocationId' },
    ],
    [
      notification(
        'get-lazy-state-keys',
        { kind: 'completion', id: 1 },
        { kind: 'state-keys', keys: ['a'] },
      ),
      { Completion: { GetLazyStateKeys: { completion_id: 1, state_keys: ['a'] } } },
      { ty: { Completion: 'GetLazyStateKeys' }, id: { CompletionId: 1 }, result: 'StateKeys' },
    ],
    [
      notification('signal', { kind: 'signal', index: 17 }, { kind: 'void' }),
      { Signal: { id: { Index: 17 }, result: 'Void' } },
      { ty: 'Signal', id: { SignalIndex: 17 }, result: 'Void' },
    ],
    [
      notification(
        'signal',
        { kind: 'named-signal', name: 'x' },
        { kind: 'failure', failure: { code: 500, message: 'm', metadata: [] } },
      ),
      { Signal: { id: { Name: 'x' }, result: { Failure: { code: 500, message: 'm' } } } },
      { ty: 'Signal', id: { SignalName: 'x' }, result: 'Failure' },
    ],
  ])('%j', (entry, full, lite) => {
    expect(both(entry)).toEqual([{ Notification: full }, { Notification: lite }]);
  });
});
