import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  idempotentInvocationId,
  loadHashes,
  workflowInvocationId,
  type Hashes,
  type InvocationTarget,
  type TargetKind,
} from '@engine/domain';
import { createUlidFactory, seededRandom, systemClock } from '@engine/runtime';
import type { HandlerCommand } from '@engine/service-protocol';
import { EMPTY_BYTES } from '@engine/stdx';

import { schemaOf, service } from '../testing/test-worker.js';
import { CalleeIds } from './callee-ids.js';
import { resolveCommand } from './resolve-command.js';

const schema = schemaOf(
  service('Greeter', 'service', ['greet']),
  service('Counter', 'virtual-object', ['add']),
  service('Flow', 'workflow', ['run']),
);
const named = { name: 'n', raw: EMPTY_BYTES };
let hashes: Hashes;

beforeAll(async () => {
  hashes = await loadHashes();
});

function resolve(command: HandlerCommand, kind: TargetKind = 'service') {
  const random = seededRandom(1);
  const key = kind === 'service' ? undefined : 'k';
  const caller: InvocationTarget = { kind, service: 'Caller', key, handler: 'h' };
  const ids = new CalleeIds(hashes, random, createUlidFactory(systemClock, random));
  return resolveCommand(command, { schema: () => schema, hashes, ids, caller });
}

function callTo(service: string, handler: string, fields: Partial<CallCommand> = {}): CallCommand {
  return {
    ...named,
    type: 'call',
    service,
    handler,
    key: '',
    parameter: EMPTY_BYTES,
    headers: [],
    idempotencyKey: undefined,
    scope: undefined,
    limitKey: undefined,
    invocationIdCompletionId: 1,
    resultCompletionId: 2,
    ...fields,
  };
}
type CallCommand = Extract<HandlerCommand, { type: 'call' }>;

function calleeOf(command: CallCommand) {
  const resolved = resolve(command);
  if (resolved.kind !== 'entry' || resolved.entry.type !== 'call') throw new Error('refused');
  return resolved.entry.callee;
}

describe('resolveCommand', () => {
  it.each<[string, HandlerCommand, TargetKind, string]>([
    ['an unknown service', callTo('Nobody', 'x'), 'service', 'RT0018'],
    ['an unknown handler', callTo('Greeter', 'x'), 'service', 'RT0018'],
    ['a key for a plain service', callTo('Greeter', 'greet', { key: 'k' }), 'service', 'RT0017'],
    [
      'an empty idempotency key',
      callTo('Greeter', 'greet', { idempotencyKey: '' }),
      'service',
      'RT0017',
    ],
    [
      'a scope without flow control',
      callTo('Greeter', 'greet', { scope: 's' }),
      'service',
      'RT0024',
    ],
    ['a scope on an object', callTo('Counter', 'add', { scope: 's' }), 'service', 'RT0017'],
    [
      'state of a plain service',
      { ...named, type: 'get-lazy-state', key: 'a', completionId: 1 },
      'service',
      'RT0017',
    ],
    [
      'a state write of a shared handler',
      { ...named, type: 'clear-state', key: 'a' },
      'object-shared',
      'RT0017',
    ],
    [
      'a promise outside workflows',
      { ...named, type: 'get-promise', key: 'a', completionId: 1 },
      'object-exclusive',
      'RT0017',
    ],
    [
      'an attach to no invocation id',
      {
        ...named,
        type: 'attach-invocation',
        query: { kind: 'invocation', id: 'inv_x' },
        completionId: 1,
      },
      'service',
      'RT0017',
    ],
    [
      'a signal to no invocation id',
      {
        ...named,
        type: 'send-signal',
        target: 'x',
        signal: { kind: 'signal', index: 1 },
        result: { kind: 'void' },
      },
      'service',
      'RT0012',
    ],
    [
      'a bad awakeable id',
      {
        ...named,
        type: 'complete-awakeable',
        awakeableId: 'sign_1',
        result: { kind: 'success', value: EMPTY_BYTES },
      },
      'service',
      'RT0012',
    ],
  ])('refuses %s', (...[, command, kind, code]) => {
    expect(resolve(command, kind)).toMatchObject({ kind: 'refused', code });
  });

  it('gives a workflow run the id of its key, whatever the idempotency key', () => {
    const callee = calleeOf(callTo('Flow', 'run', { key: 'w', idempotencyKey: 'i' }));
    expect(callee.id).toBe(workflowInvocationId({ service: 'Flow', key: 'w' }, hashes));
    expect(callee.target.kind).toBe('workflow-run');
    expect(callee.idempotencyKey).toBeUndefined();
  });

  it('gives an idempotent call the id of its idempotency key', () => {
    const callee = calleeOf(callTo('Counter', 'add', { key: 'k', idempotencyKey: 'i' }));
    const target = { service: 'Counter', handler: 'add', key: 'k', idempotencyKey: 'i' };
    expect(callee.id).toBe(idempotentInvocationId(target, hashes));
  });

  it('takes an empty key for a keyed service and none for a plain one', () => {
    expect(calleeOf(callTo('Counter', 'add')).target.key).toBe('');
    expect(calleeOf(callTo('Greeter', 'greet')).target.key).toBeUndefined();
  });
});
