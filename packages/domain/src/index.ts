export {
  isExclusive,
  readsState,
  targetText,
  usesPromises,
  writesState,
  type InvocationTarget,
  type TargetKind,
} from './target.js';
export { failureResult, type Failure, type FailureMetadata, type Result } from './result.js';
export {
  AWAKEABLE_SIGNAL_INDEX_MIN,
  CANCEL_SIGNAL_INDEX,
  notificationKey,
  VOID,
  type AwaitCombinator,
  type AwaitTree,
  type NotificationId,
  type NotificationResult,
  type NotificationType,
} from './notification.js';
export type { CommandType, Header, JournalEntry, NotificationIndexEntry } from './journal.js';
export {
  isInFlight,
  isRetained,
  type AnsweredCompletion,
  type AttemptFailure,
  type CompletedResult,
  type CompletionSlot,
  type DeploymentPin,
  type Inheritance,
  type Invocation,
  type InvocationStatus,
  type ResponseSink,
  type RetryState,
  type Source,
} from './invocation.js';
export type {
  DurablePromise,
  InboxEntry,
  ObjectLock,
  PromiseDirectory,
  StateDirectory,
  StateDirectoryEntry,
  StateEntry,
  StateReplacement,
} from './object.js';
export {
  compareTimerKeys,
  TIMER_RANK,
  type Timer,
  type TimerKey,
  type TimerKind,
} from './timer.js';
export { PARTITION_COUNT_MAX, toPartitionId, type PartitionId } from './partition.js';
export {
  recipientOf,
  type InvocationRequest,
  type OutboxCursor,
  type PartitionMessage,
} from './message.js';
export {
  capAttempts,
  DEFAULT_RETRY_POLICY,
  nextRetryDelayMs,
  RETRY_JITTER_MAX,
  type OnMaxAttempts,
  type RetryPolicy,
} from './retry-policy.js';
export { capRetention, type HandlerPolicies, type Retention } from './handler-policies.js';
export {
  EMPTY_SCHEMA,
  type Deployment,
  type DeploymentEndpoint,
  type HandlerCaps,
  type HandlerDefaults,
  type HandlerOptions,
  type HandlerSchema,
  type HandlerType,
  type HttpVersion,
  type InputPayload,
  type OutputPayload,
  type PartialRetryPolicy,
  type ProtocolMode,
  type Schema,
  type ServiceSchema,
  type ServiceType,
} from './schema.js';
export {
  retentionOf,
  SchemaLookup,
  targetKind,
  type ResolvedHandler,
  type ResolvedService,
} from './schema-lookup.js';
export type {
  DeploymentChoice,
  OperationOutcome,
  PartitionAnswer,
  PartitionRequest,
} from './partition-api.js';
export {
  EngineError,
  ERROR_CODES,
  isEngineError,
  type ConditionCode,
  type ErrorCode,
} from './error-codes.js';
export * as limits from './limits.js';
export {
  composeInvocationId,
  deploymentIdFromUlid,
  deploymentIdToUlid,
  derivePartitionKey,
  encodeBase64Url,
  formatAwakeableId,
  idempotentInvocationId,
  INVOCATION_ID_BYTES,
  invocationIdFromBytes,
  invocationIdToBytes,
  loadHashes,
  parseAwakeableId,
  parseDeploymentId,
  parseInvocationId,
  parseSubscriptionId,
  partitionKeyOf,
  randomSeedOf,
  requireInvocationId,
  SERVICE_BUCKETS,
  shardOfInvocation,
  shardOfPartitionKey,
  subscriptionIdFromUlid,
  subscriptionIdToUlid,
  ULID_BYTES,
  ULID_RANDOM_BYTES,
  ulidBytes,
  ulidText,
  ulidTimestampMs,
  workflowInvocationId,
  type AwakeableTarget,
  type DeploymentId,
  type Hashes,
  type IdempotentTarget,
  type IdFault,
  type InvocationId,
  type ParsedId,
  type PartitionedTarget,
  type SubscriptionId,
  type UlidParts,
  type WorkflowTarget,
} from './ids/index.js';
export {
  formatDuration,
  parseDelay,
  parseDuration,
  TIMESTAMP_MS_MAX,
  type ParsedDuration,
} from './duration.js';
