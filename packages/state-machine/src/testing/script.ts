/** The language of scenarios: one line per command, in words. Names of invocations stand for ids. */

import type {
  AwaitTree,
  InvocationId,
  InvocationTarget,
  NotificationId,
  NotificationResult,
  ResponseSink,
  Result,
  RetryPolicy,
  StateEntry,
  TargetKind,
  TimerKind,
} from '@engine/domain';
import { toPartitionId } from '@engine/domain';
import { encodeUtf8 } from '@engine/stdx';

import type { CalleeRequest, Command, CommandEntry, ResolvedDeployment } from '../command.js';

const POLICY: RetryPolicy = {
  initialIntervalMs: 100,
  exponentiationFactor: 2,
  maxIntervalMs: 1000,
  maxAttempts: 3,
  onMaxAttempts: 'pause',
};

/** Id of a name. Ids are opaque to the machine, so the name itself serves. */
export function idOf(name: string): InvocationId {
  return name as InvocationId;
}

/** Reads one line, without the leading `> `. Throws on a line that it does not know. */
export function parseCommand(line: string, at: number): Command {
  const words = line.split(' ');
  const [first = '', verb = ''] = words;
  if (first.includes('#')) return attemptReport(first, words.slice(1), at);
  const option = (name: string): string | undefined => {
    const place = words.indexOf(name);
    return place < 0 ? undefined : words[place + 1];
  };
  const requestId = option('as') ?? 'r0';
  const invocationId = idOf(verb);
  switch (first) {
    case 'invoke':
      return invoke(words, option, at);
    case 'attach':
      return {
        kind: 'AttachRequest',
        at,
        requestId,
        invocationId,
        blocking: !words.includes('peek'),
      };
    case 'signal': {
      const id = notificationId(words[2] ?? '');
      return {
        kind: 'SendSignal',
        at,
        requestId,
        invocationId,
        id,
        result: answer(words[3] ?? ''),
      };
    }
    case 'timer': {
      const kind = verb as TimerKind;
      const index = words[3] === 'incarnation' ? 0 : Number(words[3] ?? 0);
      const key = { dueAt: at, kind, invocationId: idOf(words[2] ?? ''), index };
      return { kind: 'TimerFired', at, key, incarnation: Number(option('incarnation') ?? 1) };
    }
    case 'message': {
      const sender = toPartitionId(Number(verb));
      const message = { kind: 'kill', invocationId: idOf(words[4] ?? '') } as const;
      return { kind: 'MessageArrived', at, sender, sequence: Number(words[2]), message };
    }
    case 'acked': {
      const destination = toPartitionId(Number(verb));
      return { kind: 'MessagesAcknowledged', at, destination, upTo: Number(words[2]) };
    }
    default:
      return operation(words, option, { at, requestId });
  }
}

type Option = (name: string) => string | undefined;

/** What is asked of one invocation or state, and answered with an outcome. */
function operation(
  words: readonly string[],
  option: Option,
  { at, requestId }: { readonly at: number; readonly requestId: string },
): Command {
  const [first = '', verb = ''] = words;
  const invocationId = idOf(verb);
  switch (first) {
    case 'cancel':
      return { kind: 'CancelInvocation', at, requestId, invocationId };
    case 'kill':
      return { kind: 'KillInvocation', at, requestId, invocationId };
    case 'pause':
      return { kind: 'PauseInvocation', at, requestId, invocationId };
    case 'resume':
      return { kind: 'ResumeInvocation', at, requestId, invocationId, deployment: to(option) };
    case 'restart': {
      const copyUpTo = Number(option('up-to') ?? 0);
      const newInvocationId = idOf(option('into') ?? '');
      const ids = { requestId, invocationId, newInvocationId };
      return { kind: 'RestartAsNew', at, ...ids, copyUpTo, deployment: to(option) };
    }
    case 'purge':
      return { kind: 'PurgeInvocation', at, requestId, invocationId };
    case 'purge-journal':
      return { kind: 'PurgeJournal', at, requestId, invocationId };
    case 'replace': {
      const [service = '', key = ''] = verb.split('/');
      const entries = stateEntries(option('with') ?? '');
      const expectedVersion = option('at');
      return { kind: 'ReplaceState', at, requestId, service, key, expectedVersion, entries };
    }
    default:
      throw new Error(`not a command: ${words.join(' ')}`);
  }
}

/** `on dp2`: a certain deployment; `latest dp2`: the newest, `none` for none; `speaking 5-6`: its protocol versions. */
function to(option: Option): ResolvedDeployment {
  const name = option('on') ?? option('latest');
  if (name === undefined) return { kind: 'keep' };
  const isExplicit = option('on') !== undefined;
  if (name === 'none') return { kind: 'unknown', isExplicit };
  const [min, max] = (option('speaking') ?? '5-7').split('-');
  return {
    kind: 'deployment',
    isExplicit,
    deploymentId: name as never,
    minProtocolVersion: Number(min),
    maxProtocolVersion: Number(max),
  };
}

/** `a=1,b=2`; nothing for the empty state. */
function stateEntries(text: string): readonly StateEntry[] {
  if (text === '' || text === 'nothing') return [];
  return text.split(',').map((pair) => {
    const [key = '', value = ''] = pair.split('=');
    return { key, value: encodeUtf8(value) };
  });
}

function invoke(words: readonly string[], option: Option, at: number): Command {
  const id = idOf(words[1] ?? '');
  const awaitedBy = option('for');
  const submitRequestId = option('submitted');
  const requestId = awaitedBy ?? submitRequestId ?? 'r0';
  const sink: ResponseSink | undefined =
    awaitedBy === undefined ? undefined : { kind: 'request', requestId: awaitedBy };
  const until = option('until');
  return {
    kind: 'InvokeHandler',
    at,
    submitRequestId,
    request: {
      ...callee(id, words[2] ?? ''),
      executionTime: until === undefined ? undefined : Number(until),
      completionRetentionMs: Number(option('keeping') ?? 60_000),
      source: { kind: 'ingress', requestId },
      sink,
    },
  };
}

function callee(id: InvocationId, target: string): CalleeRequest {
  return {
    id,
    target: parseTarget(target),
    headers: [],
    payload: encodeUtf8('in'),
    idempotencyKey: undefined,
    executionTime: undefined,
    completionRetentionMs: 60_000,
    journalRetentionMs: 60_000,
  };
}

const KINDS: Readonly<Record<string, TargetKind>> = {
  object: 'object-exclusive',
  shared: 'object-shared',
  workflow: 'workflow-run',
  peek: 'workflow-shared',
};

/** `Service/handler`, or `object:Service/key/handler` and the like. */
function parseTarget(text: string): InvocationTarget {
  const [prefix = '', rest] = text.split(':');
  if (rest === undefined) {
    const [service = '', handler = ''] = prefix.split('/');
    return { kind: 'service', service, key: undefined, handler };
  }
  const [service = '', key = '', handler = ''] = rest.split('/');
  return { kind: KINDS[prefix] ?? 'service', service, key, handler };
}

function attemptReport(who: string, words: readonly string[], at: number): Command {
  const [name = '', number = ''] = who.split('#');
  const report = { at, invocationId: idOf(name), attempt: Number(number) };
  const pin = { deploymentId: 'dp' as never, protocolVersion: 7 };
  const [verb = '', ...rest] = words;
  switch (verb) {
    case 'proposes':
      return {
        ...report,
        kind: 'RunCompletionProposed',
        pin,
        completionId: Number(rest[0]),
        result: result(rest[1] ?? ''),
      };
    case 'suspends': {
      const knownEntries = Number(rest[rest.indexOf('knowing') + 1]);
      const awaitingOn = parseTree(rest[1] ?? '');
      return { ...report, kind: 'AttemptSuspended', awaitingOn, knownEntries };
    }
    case 'ends':
      return { ...report, kind: 'AttemptEnded' };
    case 'fails':
      return {
        ...report,
        kind: 'AttemptFailed',
        behavior: rest.includes('pause') ? 'pause' : rest.includes('fail') ? 'fail' : 'retry',
        retryDelayMs: rest.includes('delay') ? Number(rest[rest.indexOf('delay') + 1]) : undefined,
        reachedHandler: true,
        policy: rest.includes('killing') ? { ...POLICY, onMaxAttempts: 'kill' } : POLICY,
        chance: 0,
        failure: {
          code: 500,
          docCode: 'RT0007',
          message: 'boom',
          stacktrace: undefined,
          relatedCommandIndex: undefined,
          relatedCommandName: undefined,
          relatedCommandType: undefined,
        },
      };
    default:
      return {
        ...report,
        kind: 'CommandReceived',
        pin,
        entry: entry(verb, rest),
        ackRequested: false,
      };
  }
}

function entry(verb: string, rest: readonly string[]): CommandEntry {
  const [a = '', b = '', c = '', d = ''] = rest;
  const stored = { name: '', raw: encodeUtf8(verb) };
  switch (verb) {
    case 'outputs':
      return { type: 'output', name: '', result: result(a) };
    case 'runs':
      return { ...stored, type: 'run', completionId: Number(a === '' ? 1 : a) };
    case 'sets':
      return { ...stored, type: 'set-state', key: a, value: encodeUtf8(b) };
    case 'gets':
      return { ...stored, type: 'get-lazy-state', key: a, completionId: Number(b) };
    case 'lists':
      return { ...stored, type: 'get-lazy-state-keys', completionId: Number(a) };
    case 'clears':
      return a === 'all'
        ? { ...stored, type: 'clear-all-state' }
        : { ...stored, type: 'clear-state', key: a };
    case 'awaits':
      return { ...stored, type: 'get-promise', key: a, completionId: Number(b) };
    case 'peeks':
      return { ...stored, type: 'peek-promise', key: a, completionId: Number(b) };
    case 'keeps':
      return {
        ...stored,
        type: 'complete-promise',
        key: a,
        completion: result(b),
        completionId: Number(c),
      };
    case 'sleeps':
      return { ...stored, type: 'sleep', wakeUpTime: Number(a), completionId: Number(b) };
    case 'calls':
      return {
        ...stored,
        type: 'call',
        callee: callee(idOf(a), b),
        invocationIdCompletionId: Number(c),
        resultCompletionId: Number(d),
      };
    case 'sends':
      return {
        ...stored,
        type: 'one-way-call',
        callee: callee(idOf(a), b),
        invocationIdCompletionId: Number(c),
      };
    case 'signals':
      return {
        ...stored,
        type: 'send-signal',
        target: idOf(a),
        signal: notificationId(b),
        result: answer(c),
      };
    case 'attaches':
      return { ...stored, type: 'attach-invocation', target: idOf(a), completionId: Number(b) };
    case 'asks':
      return { ...stored, type: 'get-invocation-output', target: idOf(a), completionId: Number(b) };
    default:
      throw new Error(`not a journal command: ${verb}`);
  }
}

/** `!409` is a failure, anything else a value. */
function result(text: string): Result {
  return text.startsWith('!')
    ? { kind: 'failure', failure: { code: Number(text.slice(1)), message: 'failed', metadata: [] } }
    : { kind: 'success', value: encodeUtf8(text) };
}

function answer(text: string): NotificationResult {
  if (text === '' || text === 'void') return { kind: 'void' };
  const parsed = result(text);
  return parsed.kind === 'success' ? { kind: 'value', value: parsed.value } : parsed;
}

/** `c1` completion 1, `s17` signal 17, `ngo` the signal named go. */
function notificationId(text: string): NotificationId {
  const rest = text.slice(1);
  if (text.startsWith('c')) return { kind: 'completion', id: Number(rest) };
  if (text.startsWith('s')) return { kind: 'signal', index: Number(rest) };
  return { kind: 'named-signal', name: rest };
}

const COMBINATORS = {
  any: 'first-succeeded-or-all-failed',
  all: 'all-succeeded-or-first-failed',
  race: 'first-completed',
  settled: 'all-completed',
  flat: 'unknown',
} as const;

/** `race(c1,s1,all(c2,c3))`. */
export function parseTree(text: string): AwaitTree {
  const open = text.indexOf('(');
  if (open < 0) return { kind: 'single', id: notificationId(text) };
  const kind = COMBINATORS[text.slice(0, open) as keyof typeof COMBINATORS];
  const children: AwaitTree[] = [];
  let depth = 0;
  let start = open + 1;
  for (let index = open + 1; index < text.length; index += 1) {
    const character = text[index];
    if (character === '(') depth += 1;
    if ((character === ',' && depth === 0) || index === text.length - 1) {
      children.push(parseTree(text.slice(start, index)));
      start = index + 1;
    }
    if (character === ')') depth -= 1;
  }
  return { kind, children };
}
