/** Decodes the commands of a handler. Throws `MessageFault`, or whatever the decoder throws on undecodable bytes. */
import {
  VOID,
  type CommandType,
  type NotificationId,
  type NotificationResult,
  type Result,
} from '@engine/domain';
import * as wire from './gen/service-protocol/messages.js';
import { refuseCrowd } from './crowd.js';
import { MessageFault } from './fault.js';
import type { HandlerCommand, InvocationQuery } from './handler-command.js';
import { failed, readFailure, readStateKey, success } from './results.js';

/** Decodes one command. Views in the result share the memory of `raw`. */
export function decodeCommand(type: CommandType, raw: Uint8Array): HandlerCommand {
  refuseCrowd(raw, LIST_FIELDS[type]);
  return DECODERS[type](raw);
}

/** Decodes an output command. */
export function decodeOutput(raw: Uint8Array): Extract<HandlerCommand, { type: 'output' }> {
  refuseCrowd(raw, OUTPUT_FAILURE_FIELD);
  const message = wire.OutputCommand.decode(raw);
  return { type: 'output', name: message.name, raw, result: readResult(message.result) };
}

const OUTPUT_FAILURE_FIELD = 15;

/** Fields that hold a list of their own: failures with metadata, keys of the state. */
const LIST_FIELDS: Readonly<Partial<Record<CommandType, number>>> = {
  'get-eager-state-keys': 14,
  'complete-promise': 3,
  'send-signal': 6,
  'complete-awakeable': 3,
};

const DECODERS: Readonly<Record<CommandType, (raw: Uint8Array) => HandlerCommand>> = {
  'get-lazy-state': (raw) => {
    const message = wire.GetLazyStateCommand.decode(raw);
    return {
      type: 'get-lazy-state',
      name: message.name,
      raw,
      key: readStateKey(message.key),
      completionId: message.resultCompletionId,
    };
  },
  'set-state': (raw) => {
    const { name, key, value } = wire.SetStateCommand.decode(raw);
    const { content } = present(value, 'value');
    return { type: 'set-state', name, raw, key: readStateKey(key), value: content };
  },
  'clear-state': (raw) => {
    const { name, key } = wire.ClearStateCommand.decode(raw);
    return { type: 'clear-state', name, raw, key: readStateKey(key) };
  },
  'clear-all-state': (raw) => {
    const { name } = wire.ClearAllStateCommand.decode(raw);
    return { type: 'clear-all-state', name, raw };
  },
  'get-lazy-state-keys': (raw) => {
    const message = wire.GetLazyStateKeysCommand.decode(raw);
    return {
      type: 'get-lazy-state-keys',
      name: message.name,
      raw,
      completionId: message.resultCompletionId,
    };
  },
  'get-eager-state': (raw) => {
    const { name, result } = wire.GetEagerStateCommand.decode(raw);
    present(result, 'result');
    return { type: 'get-eager-state', name, raw };
  },
  'get-eager-state-keys': (raw) => {
    const { name, value } = wire.GetEagerStateKeysCommand.decode(raw);
    present(value, 'value');
    return { type: 'get-eager-state-keys', name, raw };
  },
  'get-promise': (raw) => promiseRead('get-promise', wire.GetPromiseCommand.decode(raw), raw),
  'peek-promise': (raw) => promiseRead('peek-promise', wire.PeekPromiseCommand.decode(raw), raw),
  'complete-promise': decodeCompletePromise,
  sleep: (raw) => {
    const message = wire.SleepCommand.decode(raw);
    return {
      type: 'sleep',
      name: message.name,
      raw,
      wakeUpTime: toTime(message.wakeUpTime),
      completionId: message.resultCompletionId,
    };
  },
  call: (raw) => {
    const message = wire.CallCommand.decode(raw);
    return {
      type: 'call',
      name: message.name,
      raw,
      ...calleeFields(message),
      resultCompletionId: message.resultCompletionId,
    };
  },
  'one-way-call': (raw) => {
    const message = wire.OneWayCallCommand.decode(raw);
    return {
      type: 'one-way-call',
      name: message.name,
      raw,
      ...calleeFields(message),
      invokeTime: message.invokeTime === 0n ? undefined : toTime(message.invokeTime),
    };
  },
  'send-signal': decodeSendSignal,
  run: (raw) => {
    const { name, resultCompletionId } = wire.RunCommand.decode(raw);
    return { type: 'run', name, raw, completionId: resultCompletionId };
  },
  'attach-invocation': (raw) =>
    attachment('attach-invocation', wire.AttachInvocationCommand.decode(raw), raw),
  'get-invocation-output': (raw) =>
    attachment('get-invocation-output', wire.GetInvocationOutputCommand.decode(raw), raw),
  'complete-awakeable': (raw) => {
    const { name, awakeableId, result } = wire.CompleteAwakeableCommand.decode(raw);
    return { type: 'complete-awakeable', name, raw, awakeableId, result: readResult(result) };
  },
};

function promiseRead(
  type: 'get-promise' | 'peek-promise',
  message: wire.GetPromiseCommand | wire.PeekPromiseCommand,
  raw: Uint8Array,
): HandlerCommand {
  const { name, key, resultCompletionId } = message;
  return { type, name, raw, key, completionId: resultCompletionId };
}

function decodeCompletePromise(raw: Uint8Array): HandlerCommand {
  const message = wire.CompletePromiseCommand.decode(raw);
  const completion = present(message.completion, 'completion');
  return {
    type: 'complete-promise',
    name: message.name,
    raw,
    key: message.key,
    completion:
      completion.$case === 'completionValue'
        ? success(completion.value.content)
        : failed(completion.value),
    completionId: message.resultCompletionId,
  };
}

function calleeFields(message: wire.CallCommand | wire.OneWayCallCommand) {
  return {
    service: message.serviceName,
    handler: message.handlerName,
    key: message.key,
    parameter: message.parameter,
    headers: message.headers,
    idempotencyKey: message.idempotencyKey,
    scope: unlessEmpty(message.scope),
    limitKey: unlessEmpty(message.limitKey),
    invocationIdCompletionId: message.invocationIdNotificationIdx,
  };
}

function decodeSendSignal(raw: Uint8Array): HandlerCommand {
  const message = wire.SendSignalCommand.decode(raw);
  return {
    type: 'send-signal',
    name: message.name,
    raw,
    target: message.targetInvocationId,
    signal: readSignal(message.signal),
    result: readSignalResult(message.result),
  };
}

function readSignal(signal: wire.SendSignalCommand['signal']): NotificationId {
  const given = present(signal, 'signal');
  return given.$case === 'idx'
    ? { kind: 'signal', index: given.value }
    : { kind: 'named-signal', name: given.value };
}

function readSignalResult(result: wire.SendSignalCommand['result']): NotificationResult {
  const given = present(result, 'result');
  switch (given.$case) {
    case 'void':
      return VOID;
    case 'value':
      return { kind: 'value', value: given.value.content };
    case 'failure':
      return { kind: 'failure', failure: readFailure(given.value) };
  }
}

function attachment(
  type: 'attach-invocation' | 'get-invocation-output',
  message: wire.AttachInvocationCommand | wire.GetInvocationOutputCommand,
  raw: Uint8Array,
): HandlerCommand {
  const { name, resultCompletionId } = message;
  return { type, name, raw, query: readQuery(message.target), completionId: resultCompletionId };
}

function readQuery(target: wire.AttachInvocationCommand['target']): InvocationQuery {
  const given = present(target, 'target');
  switch (given.$case) {
    case 'invocationId':
      return { kind: 'invocation', id: given.value };
    case 'workflowTarget': {
      const { workflowName, workflowKey, scope } = given.value;
      return {
        kind: 'workflow',
        service: workflowName,
        key: workflowKey,
        scope: unlessEmpty(scope),
      };
    }
    case 'idempotentRequestTarget': {
      const { serviceName, serviceKey, handlerName, idempotencyKey, scope } = given.value;
      return {
        kind: 'idempotent',
        service: serviceName,
        key: serviceKey,
        handler: handlerName,
        idempotencyKey,
        scope: unlessEmpty(scope),
      };
    }
  }
}

function readResult(result: wire.OutputCommand['result']): Result {
  const given = present(result, 'result');
  return given.$case === 'value' ? success(given.value.content) : failed(given.value);
}

function present<Part>(part: Part | undefined, name: string): Part {
  if (part === undefined) throw new MessageFault(`${name} is missing`);
  return part;
}

function unlessEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** A time in ms as a number; what a number cannot hold is as good as never. */
function toTime(ms: bigint): number {
  return ms > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(ms);
}
