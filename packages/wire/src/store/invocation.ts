import type {
  AnsweredCompletion,
  AttemptFailure,
  CompletedResult,
  CompletionSlot,
  DeploymentId,
  DeploymentPin,
  Inheritance,
  Invocation,
  InvocationId,
  InvocationStatus,
  NotificationType,
  ResponseSink,
  RetryState,
  Source,
  Timer,
} from '@engine/domain';

import { enumCodec, missing, required, rowCodec, type RowCodec } from '../codec.js';
import * as gen from '../gen/engine/store/v1/invocation.js';
import { awaitTreeFromWire, awaitTreeToWire, notificationTypes } from './notification.js';
import { failureFromWire, failureToWire } from './result.js';
import { targetFromWire, targetToWire } from './target.js';

const S = gen.InvocationStatus;

const statuses = enumCodec<InvocationStatus, gen.InvocationStatus>('invocation status', {
  scheduled: S.INVOCATION_STATUS_SCHEDULED,
  inboxed: S.INVOCATION_STATUS_INBOXED,
  invoked: S.INVOCATION_STATUS_INVOKED,
  suspended: S.INVOCATION_STATUS_SUSPENDED,
  paused: S.INVOCATION_STATUS_PAUSED,
  completed: S.INVOCATION_STATUS_COMPLETED,
});

export function sourceToWire(source: Source): gen.Source {
  switch (source.kind) {
    case 'ingress':
      return { source: { $case: 'ingressRequestId', value: source.requestId } };
    case 'service':
      return {
        source: {
          $case: 'service',
          value: { invocationId: source.callerId, target: targetToWire(source.callerTarget) },
        },
      };
    case 'subscription':
      return { source: { $case: 'subscriptionId', value: source.subscriptionId } };
    case 'restart-as-new':
      return { source: { $case: 'restartedInvocationId', value: source.originalId } };
  }
}

export function sourceFromWire(message: gen.Source | undefined): Source {
  const source = message?.source;
  switch (source?.$case) {
    case 'ingressRequestId':
      return { kind: 'ingress', requestId: source.value };
    case 'service':
      return {
        kind: 'service',
        callerId: source.value.invocationId as InvocationId,
        callerTarget: targetFromWire(source.value.target),
      };
    case 'subscriptionId':
      return { kind: 'subscription', subscriptionId: source.value };
    case 'restartedInvocationId':
      return { kind: 'restart-as-new', originalId: source.value as InvocationId };
    case undefined:
      return missing('source');
  }
}

export function slotToWire(slot: CompletionSlot): gen.CompletionSlot {
  return {
    callerId: slot.callerId,
    callerIncarnation: slot.callerIncarnation,
    completionId: slot.completionId,
    type: notificationTypes.toWire[slot.type],
  };
}

export function slotFromWire(message: gen.CompletionSlot | undefined): CompletionSlot {
  if (message === undefined) return missing('completion slot');
  return {
    callerId: message.callerId as InvocationId,
    callerIncarnation: message.callerIncarnation,
    completionId: message.completionId,
    type: answeredCompletion(notificationTypes.fromWire(message.type)),
  };
}

function answeredCompletion(type: NotificationType): AnsweredCompletion {
  switch (type) {
    case 'call':
    case 'attach-invocation':
    case 'get-invocation-output':
    case 'get-promise':
      return type;
    default:
      return missing(`answer to ${type}`);
  }
}

export function sinkToWire(sink: ResponseSink): gen.ResponseSink {
  switch (sink.kind) {
    case 'request':
      return { sink: { $case: 'requestId', value: sink.requestId } };
    case 'completion':
      return { sink: { $case: 'completion', value: slotToWire(sink.slot) } };
  }
}

export function sinkFromWire(message: gen.ResponseSink): ResponseSink {
  const sink = message.sink;
  switch (sink?.$case) {
    case 'requestId':
      return { kind: 'request', requestId: sink.value };
    case 'completion':
      return { kind: 'completion', slot: slotFromWire(sink.value) };
    case undefined:
      return missing('response sink');
  }
}

function pinFromWire(message: gen.DeploymentPin): DeploymentPin {
  return {
    deploymentId: message.deploymentId as DeploymentId,
    protocolVersion: message.protocolVersion,
  };
}

function inheritedFromWire(message: gen.Inheritance): Inheritance {
  return { entries: message.entries, seedId: message.seedId as InvocationId };
}

function attemptFailureFromWire(message: gen.AttemptFailure | undefined): AttemptFailure {
  if (message === undefined) return missing('attempt failure');
  return {
    code: message.code,
    docCode: message.docCode,
    message: message.message,
    stacktrace: message.stacktrace,
    relatedCommandIndex: message.relatedCommandIndex,
    relatedCommandName: message.relatedCommandName,
    relatedCommandType: message.relatedCommandType,
  };
}

function retryFromWire(message: gen.RetryState): RetryState {
  return {
    failures: message.failures,
    setDelays: message.setDelays,
    failuresSinceLastCommand: message.failuresSinceLastCommand,
    nextAttemptAt: message.nextAttemptAt,
    failure: attemptFailureFromWire(message.failure),
  };
}

function completedToWire(result: CompletedResult): gen.CompletedResult {
  switch (result.kind) {
    case 'output':
      return {
        result: {
          $case: result.succeeded ? 'outputIndex' : 'failedOutputIndex',
          value: result.index,
        },
      };
    case 'failure':
      return { result: { $case: 'failure', value: failureToWire(result.failure) } };
  }
}

function completedFromWire(message: gen.CompletedResult): CompletedResult {
  const result = required(message.result, 'completed result');
  switch (result.$case) {
    case 'outputIndex':
      return { kind: 'output', index: result.value, succeeded: true };
    case 'failedOutputIndex':
      return { kind: 'output', index: result.value, succeeded: false };
    case 'failure':
      return { kind: 'failure', failure: failureFromWire(result.value) };
  }
}

/** The generated message of an invocation. Parts that have one shape on both sides are shared, not copied. */
export function invocationToWire(row: Invocation): gen.Invocation {
  return {
    status: statuses.toWire[row.status],
    incarnation: row.incarnation,
    target: targetToWire(row.target),
    source: sourceToWire(row.source),
    sinks: row.sinks.map(sinkToWire),
    idempotencyKey: row.idempotencyKey,
    executionTime: row.executionTime,
    completionRetentionMs: row.completionRetentionMs,
    journalRetentionMs: row.journalRetentionMs,
    createdAt: row.createdAt,
    modifiedAt: row.modifiedAt,
    scheduledAt: row.scheduledAt,
    inboxedAt: row.inboxedAt,
    runningAt: row.runningAt,
    completedAt: row.completedAt,
    inboxSequence: row.inboxSequence,
    journalLength: row.journalLength,
    commandCount: row.commandCount,
    pin: row.pin,
    attempt: row.attempt,
    lastAttemptAt: row.lastAttemptAt,
    retry: row.retry,
    awaitingOn: row.awaitingOn === undefined ? undefined : awaitTreeToWire(row.awaitingOn),
    awaitKnownEntries: row.awaitKnownEntries,
    result: row.result === undefined ? undefined : completedToWire(row.result),
    purgedAt: row.purgedAt,
    purgeLength: row.purgeLength,
    inherited: row.inherited,
  };
}

/** The row in a generated message. */
export function invocationFromWire(message: gen.Invocation): Invocation {
  return {
    status: statuses.fromWire(message.status),
    incarnation: message.incarnation,
    target: targetFromWire(message.target),
    source: sourceFromWire(message.source),
    sinks: message.sinks.map(sinkFromWire),
    idempotencyKey: message.idempotencyKey,
    executionTime: message.executionTime,
    completionRetentionMs: message.completionRetentionMs,
    journalRetentionMs: message.journalRetentionMs,
    createdAt: message.createdAt,
    modifiedAt: message.modifiedAt,
    scheduledAt: message.scheduledAt,
    inboxedAt: message.inboxedAt,
    runningAt: message.runningAt,
    completedAt: message.completedAt,
    inboxSequence: message.inboxSequence,
    journalLength: message.journalLength,
    commandCount: message.commandCount,
    pin: message.pin === undefined ? undefined : pinFromWire(message.pin),
    attempt: message.attempt,
    lastAttemptAt: message.lastAttemptAt,
    retry: message.retry === undefined ? undefined : retryFromWire(message.retry),
    awaitingOn:
      message.awaitingOn === undefined ? undefined : awaitTreeFromWire(message.awaitingOn),
    awaitKnownEntries: message.awaitKnownEntries,
    result: message.result === undefined ? undefined : completedFromWire(message.result),
    purgedAt: message.purgedAt,
    purgeLength: message.purgeLength,
    inherited: message.inherited === undefined ? undefined : inheritedFromWire(message.inherited),
  };
}

export const invocationRow: RowCodec<Invocation> = rowCodec('invocation', gen.Invocation, {
  toWire: invocationToWire,
  fromWire: invocationFromWire,
});

export const timerRow: RowCodec<Timer> = rowCodec('timer', gen.Timer, {
  toWire: (row: Timer): gen.Timer => row,
  fromWire: (message): Timer => message,
});
