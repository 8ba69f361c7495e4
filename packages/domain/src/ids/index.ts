export { encodeBase64Url } from './base64url.js';
export { type IdFault, type ParsedId } from './id-text.js';
export {
  INVOCATION_ID_BYTES,
  invocationIdFromBytes,
  invocationIdToBytes,
  parseInvocationId,
  partitionKeyOf,
  requireInvocationId,
  shardOfInvocation,
  shardOfPartitionKey,
  type InvocationId,
} from './invocation-id.js';
export {
  deploymentIdFromUlid,
  deploymentIdToUlid,
  parseDeploymentId,
  parseSubscriptionId,
  subscriptionIdFromUlid,
  subscriptionIdToUlid,
  type DeploymentId,
  type SubscriptionId,
} from './resource-id.js';
export { formatAwakeableId, parseAwakeableId, type AwakeableTarget } from './awakeable-id.js';
export {
  ULID_BYTES,
  ULID_RANDOM_BYTES,
  ulidBytes,
  ulidText,
  ulidTimestampMs,
  type UlidParts,
} from './ulid.js';
export { loadHashes, type Hashes } from './hashes.js';
export {
  composeInvocationId,
  derivePartitionKey,
  idempotentInvocationId,
  SERVICE_BUCKETS,
  workflowInvocationId,
  type IdempotentTarget,
  type PartitionedTarget,
  type WorkflowTarget,
} from './derive.js';
export { randomSeedOf } from './random-seed.js';
