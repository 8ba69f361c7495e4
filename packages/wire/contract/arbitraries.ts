import {
  invocationIdFromBytes,
  toPartitionId,
  type AttemptFailure,
  type AwaitTree,
  type CommandType,
  type CompletionSlot,
  type DeploymentChoice,
  type DeploymentId,
  type DurablePromise,
  type Failure,
  type InboxEntry,
  type Invocation,
  type InvocationId,
  type InvocationRequest,
  type InvocationTarget,
  type JournalEntry,
  type NotificationId,
  type NotificationResult,
  type NotificationType,
  type ObjectLock,
  type OperationOutcome,
  type PartitionAnswer,
  type PartitionId,
  type PartitionMessage,
  type PartitionReport,
  type PartitionRequest,
  type ResponseSink,
  type Result,
  type Source,
} from '@engine/domain';
import * as fc from 'fast-check';

import type {
  AppliedPosition,
  InvocationSnapshot,
  JournalSnapshot,
  MessageAck,
  MessageBatch,
  StateSnapshot,
} from '../src/index.js';

// 'grapheme' gives well-formed text of every plane; lone surrogates have no bytes and cannot come from a wire.
const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const bytes = fc.uint8Array({ maxLength: 40 });
const u32 = fc.nat(0xffff_ffff);
const ms = fc.oneof(fc.nat(2 ** 40), fc.constantFrom(0, 1.5, Number.MAX_SAFE_INTEGER, Infinity));
const count = fc.nat(2 ** 31);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const partitionId = fc.nat(65_534).map(toPartitionId);
const deploymentId = text.map((id) => `dp_1${id}` as DeploymentId);

export const arbitraryInvocationId: fc.Arbitrary<InvocationId> = fc
  .uint8Array({ minLength: 24, maxLength: 24 })
  .map((raw) => invocationIdFromBytes(raw));

const pairs = fc.array(fc.record({ key: text, value: text }), { maxLength: 3 });

const target: fc.Arbitrary<InvocationTarget> = fc.record({
  kind: fc.constantFrom(
    'service',
    'object-exclusive',
    'object-shared',
    'workflow-run',
    'workflow-shared',
  ),
  service: text,
  key: optional(text),
  handler: text,
});

const failure: fc.Arbitrary<Failure> = fc.record(
  { code: fc.nat(65_535), message: text, metadata: pairs, stacktrace: text },
  { requiredKeys: ['code', 'message', 'metadata'] },
);

const result: fc.Arbitrary<Result> = fc.oneof(
  bytes.map((value) => ({ kind: 'success' as const, value })),
  failure.map((f) => ({ kind: 'failure' as const, failure: f })),
);

export const arbitraryNotificationId: fc.Arbitrary<NotificationId> = fc.oneof(
  u32.map((id) => ({ kind: 'completion' as const, id })),
  u32.map((index) => ({ kind: 'signal' as const, index })),
  text.map((name) => ({ kind: 'named-signal' as const, name })),
);

const notificationResult: fc.Arbitrary<NotificationResult> = fc.oneof(
  fc.constant({ kind: 'void' as const }),
  bytes.map((value) => ({ kind: 'value' as const, value })),
  failure.map((f) => ({ kind: 'failure' as const, failure: f })),
  text.map((id) => ({ kind: 'invocation-id' as const, id })),
  fc.array(text).map((keys) => ({ kind: 'state-keys' as const, keys })),
);

const notificationType: fc.Arbitrary<NotificationType> = fc.constantFrom(
  'get-lazy-state',
  'get-lazy-state-keys',
  'get-promise',
  'peek-promise',
  'complete-promise',
  'sleep',
  'call-invocation-id',
  'call',
  'run',
  'attach-invocation',
  'get-invocation-output',
  'signal',
);

const awaitTree: fc.Arbitrary<AwaitTree> = fc.letrec<{ tree: AwaitTree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    arbitraryNotificationId.map((id) => ({ kind: 'single' as const, id })),
    fc.record({
      kind: fc.constantFrom(
        'unknown',
        'first-completed',
        'all-completed',
        'first-succeeded-or-all-failed',
        'all-succeeded-or-first-failed',
      ),
      children: fc.array(tie('tree'), { maxLength: 3 }),
    }),
  ),
})).tree;

const slot: fc.Arbitrary<CompletionSlot> = fc.record({
  callerId: arbitraryInvocationId,
  callerIncarnation: count,
  completionId: u32,
  type: fc.constantFrom('call', 'attach-invocation', 'get-invocation-output', 'get-promise'),
});

const sink: fc.Arbitrary<ResponseSink> = fc.oneof(
  text.map((requestId) => ({ kind: 'request' as const, requestId })),
  slot.map((s) => ({ kind: 'completion' as const, slot: s })),
);

const source: fc.Arbitrary<Source> = fc.oneof(
  text.map((requestId) => ({ kind: 'ingress' as const, requestId })),
  fc.record({
    kind: fc.constant('service' as const),
    callerId: arbitraryInvocationId,
    callerTarget: target,
  }),
  text.map((subscriptionId) => ({ kind: 'subscription' as const, subscriptionId })),
  arbitraryInvocationId.map((originalId) => ({ kind: 'restart-as-new' as const, originalId })),
);

const attemptFailure: fc.Arbitrary<AttemptFailure> = fc.record({
  code: fc.nat(65_535),
  docCode: optional(text),
  message: text,
  stacktrace: optional(text),
  relatedCommandIndex: optional(u32),
  relatedCommandName: optional(text),
  relatedCommandType: optional(text),
});

export const arbitraryInvocation: fc.Arbitrary<Invocation> = fc.record({
  status: fc.constantFrom('scheduled', 'inboxed', 'invoked', 'suspended', 'paused', 'completed'),
  incarnation: count,
  target,
  source,
  sinks: fc.array(sink, { maxLength: 3 }),
  idempotencyKey: optional(text),
  executionTime: optional(ms),
  completionRetentionMs: ms,
  journalRetentionMs: ms,
  createdAt: ms,
  modifiedAt: ms,
  scheduledAt: optional(ms),
  inboxedAt: optional(ms),
  runningAt: optional(ms),
  completedAt: optional(ms),
  inboxSequence: optional(count),
  journalLength: u32,
  commandCount: u32,
  pin: optional(fc.record({ deploymentId, protocolVersion: fc.nat(20) })),
  attempt: u32,
  lastAttemptAt: optional(ms),
  retry: optional(
    fc.record({
      failures: u32,
      setDelays: u32,
      failuresSinceLastCommand: u32,
      nextAttemptAt: optional(ms),
      failure: attemptFailure,
    }),
  ),
  awaitingOn: optional(awaitTree),
  awaitKnownEntries: optional(u32),
  result: optional(
    fc.oneof(
      fc.record({ kind: fc.constant('output' as const), index: u32, succeeded: fc.boolean() }),
      failure.map((f) => ({ kind: 'failure' as const, failure: f })),
    ),
  ),
  purgedAt: optional(ms),
  purgeLength: optional(u32),
  inherited: optional(fc.record({ entries: u32, seedId: arbitraryInvocationId })),
});

const commandType: fc.Arbitrary<CommandType> = fc.constantFrom(
  'get-lazy-state',
  'set-state',
  'clear-state',
  'clear-all-state',
  'get-lazy-state-keys',
  'get-eager-state',
  'get-eager-state-keys',
  'get-promise',
  'peek-promise',
  'complete-promise',
  'sleep',
  'call',
  'one-way-call',
  'send-signal',
  'run',
  'attach-invocation',
  'get-invocation-output',
  'complete-awakeable',
);

export const arbitraryJournalEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('input' as const),
    headers: pairs,
    payload: bytes,
    appendedAt: ms,
  }),
  fc.record({ kind: fc.constant('output' as const), name: text, result, appendedAt: ms }),
  fc.record({
    kind: fc.constant('command' as const),
    type: commandType,
    name: text,
    raw: bytes,
    callee: optional(arbitraryInvocationId),
    completionId: optional(u32),
    invocationIdCompletionId: optional(u32),
    appendedAt: ms,
  }),
  fc.record({
    kind: fc.constant('notification' as const),
    type: notificationType,
    id: arbitraryNotificationId,
    result: notificationResult,
    appendedAt: ms,
  }),
);

const bareRequest = {
  id: arbitraryInvocationId,
  target,
  headers: pairs,
  payload: bytes,
  idempotencyKey: optional(text),
  executionTime: optional(ms),
  completionRetentionMs: ms,
  journalRetentionMs: ms,
};

const invocationRequest: fc.Arbitrary<InvocationRequest> = fc.record({
  ...bareRequest,
  source,
  sink: optional(sink),
});

export const arbitraryMessage: fc.Arbitrary<PartitionMessage> = fc.oneof(
  invocationRequest.map((request) => ({ kind: 'invoke' as const, request })),
  fc.record({ kind: fc.constant('respond' as const), slot, result: notificationResult }),
  fc.record({
    kind: fc.constant('signal' as const),
    invocationId: arbitraryInvocationId,
    id: arbitraryNotificationId,
    result: notificationResult,
  }),
  fc.record({
    kind: fc.constant('attach' as const),
    invocationId: arbitraryInvocationId,
    blocking: fc.boolean(),
    slot,
  }),
  fc.record({ kind: fc.constant('kill' as const), invocationId: arbitraryInvocationId }),
);

export const arbitraryPromise: fc.Arbitrary<DurablePromise> = fc.oneof(
  result.map((r) => ({ kind: 'completed' as const, result: r })),
  fc.array(slot, { maxLength: 3 }).map((listeners) => ({ kind: 'pending' as const, listeners })),
);

const stateEntries = fc.array(fc.record({ key: text, value: bytes }), { maxLength: 3 });

export const arbitraryObjectLock: fc.Arbitrary<ObjectLock> = fc.record({
  holder: arbitraryInvocationId,
  inboxHead: count,
  inboxTail: count,
  replacements: u32,
});

export const arbitraryInboxEntry: fc.Arbitrary<InboxEntry> = fc.oneof(
  arbitraryInvocationId.map((invocationId) => ({ kind: 'invocation' as const, invocationId })),
  fc.record({
    kind: fc.constant('state-replacement' as const),
    replacement: fc.record({ expectedVersion: optional(text), entries: stateEntries }),
  }),
);

const addressed = { requestId: text, invocationId: arbitraryInvocationId };

const deploymentChoice: fc.Arbitrary<DeploymentChoice> = fc.oneof(
  fc.constant({ kind: 'keep' as const }),
  fc.constant({ kind: 'latest' as const }),
  fc.record({ kind: fc.constant('fixed' as const), deploymentId }),
);

/** Each outcome once: a new one without its place here does not compile. */
const outcomes: Readonly<Record<OperationOutcome, true>> = {
  done: true,
  appended: true,
  unchanged: true,
  'not-found': true,
  'already-completed': true,
  'not-completed': true,
  'not-started': true,
  'not-running': true,
  'still-running': true,
  'journal-missing': true,
  'workflow-unsupported': true,
  'journal-position-invalid': true,
  'deployment-not-found': true,
  'deployment-not-changeable': true,
  'deployment-incompatible': true,
  'limit-reached': true,
};

export const arbitraryRequest: fc.Arbitrary<PartitionRequest> = fc.oneof(
  fc.record({
    kind: fc.constant('invoke' as const),
    requestId: text,
    invocation: fc.record(bareRequest),
    awaits: fc.constantFrom('submission' as const, 'result' as const),
  }),
  fc.record({ kind: fc.constant('attach' as const), ...addressed, blocking: fc.boolean() }),
  fc.record({
    kind: fc.constant('signal' as const),
    ...addressed,
    id: arbitraryNotificationId,
    result: notificationResult,
  }),
  fc.record({
    kind: fc.constantFrom('cancel', 'kill', 'pause', 'purge', 'purge-journal'),
    ...addressed,
  }),
  fc.record({ kind: fc.constant('resume'), ...addressed, deployment: deploymentChoice }),
  fc.record({
    kind: fc.constant('restart-as-new'),
    ...addressed,
    newInvocationId: arbitraryInvocationId,
    copyUpTo: u32,
    deployment: deploymentChoice,
  }),
  fc.record({
    kind: fc.constant('replace-state'),
    requestId: text,
    service: text,
    key: text,
    expectedVersion: optional(text),
    entries: stateEntries,
  }),
) as fc.Arbitrary<PartitionRequest>;

export const arbitraryAnswer: fc.Arbitrary<PartitionAnswer> = fc.oneof(
  fc.record({
    kind: fc.constant('submitted' as const),
    isNew: fc.boolean(),
    executionTime: optional(ms),
  }),
  fc.record({
    kind: fc.constant('result' as const),
    result,
    expiresAt: optional(ms),
    target: optional(fc.record({ service: text, handler: text })),
  }),
  fc.constant({ kind: 'not-found' as const }),
  fc.constant({ kind: 'not-ready' as const }),
  fc.record({
    kind: fc.constant('operation' as const),
    outcome: fc.constantFrom(...(Object.keys(outcomes) as OperationOutcome[])),
  }),
  fc.record({
    kind: fc.constant('unavailable' as const),
    reason: fc.constantFrom('overloaded', 'stopping', 'not-leader', 'disconnected'),
  }),
);

export const arbitraryBatch: fc.Arbitrary<MessageBatch> = fc.record({
  sender: partitionId,
  destination: partitionId,
  first: fc.maxSafeNat(),
  messages: fc.array(arbitraryMessage, { maxLength: 3 }),
});

export const arbitraryAck: fc.Arbitrary<MessageAck> = fc.record({
  sender: partitionId,
  destination: partitionId,
  upTo: fc.maxSafeNat(),
});

export const arbitrarySnapshot: fc.Arbitrary<InvocationSnapshot> = fc.record({
  id: arbitraryInvocationId,
  invocation: arbitraryInvocation,
  live: optional(
    fc.record({
      isInFlight: fc.boolean(),
      retryCount: u32,
      lastStartAt: optional(ms),
      nextRetryAt: optional(ms),
      deploymentId: optional(deploymentId),
      server: optional(text),
      awaitingOn: optional(awaitTree),
      lastHeardAt: optional(ms),
    }),
  ),
  failure: optional(failure),
  awaiting: optional(fc.record({ on: text, since: optional(ms) })),
});

export const arbitraryJournalSnapshot: fc.Arbitrary<JournalSnapshot> = fc.record({
  id: arbitraryInvocationId,
  index: u32,
  entry: arbitraryJournalEntry,
});

export const arbitraryStateSnapshot: fc.Arbitrary<StateSnapshot> = fc.record({
  partitionKey: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  service: text,
  key: text,
  stateKey: text,
  value: bytes,
});

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

const partitionReport: fc.Arbitrary<PartitionReport> = fc.record({
  phase: fc.constantFrom(
    'idle',
    'follower',
    'candidate',
    'announcing',
    'rebuilding',
    'leader',
    'stepping-down',
    'quarantined',
  ),
  epoch: u64,
  logEpoch: u64,
  applied: u64,
  isCaughtUp: fc.boolean(),
  isStuck: fc.boolean(),
  fault: optional(
    fc.constantFrom('ahead', 'other-branch', 'other-incarnation', 'tail-lost', 'format', 'clock'),
  ),
});

export const arbitraryReports: fc.Arbitrary<ReadonlyMap<PartitionId, PartitionReport>> = fc
  .array(fc.tuple(partitionId, partitionReport), { maxLength: 8 })
  .map((entries) => new Map(entries));

export const arbitraryApplied: fc.Arbitrary<AppliedPosition | undefined> = optional(
  fc.record({ sequence: u64, chain: u64 }),
);
