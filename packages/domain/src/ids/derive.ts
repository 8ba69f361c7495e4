/**
 * Ids that follow from what is addressed, the same in every cluster: a workflow run, a call with an idempotency key.
 * All other invocations get a ULID. Pure functions; hashes, chance and the ULID are arguments.
 */
import type { Hashes } from './hashes.js';
import { INVOCATION_ID_BYTES, invocationIdFromBytes, type InvocationId } from './invocation-id.js';
import { ULID_BYTES } from './ulid.js';

/** Plain services spread over this many buckets, each with its own partition key. */
export const SERVICE_BUCKETS = 512;

/** Second part of every bucket's key, the same for all services. */
const BUCKET_FAMILY = 'unscoped/service';
const SEPARATOR = 0x2c;
const STRING_END = 0xff;
const utf8 = new TextEncoder();

/** What decides where an invocation lives. */
export interface PartitionedTarget {
  readonly service: string;
  /** Key of the object or workflow. */
  readonly key?: string | undefined;
  readonly scope?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** What decides the uuid of a call with an idempotency key. */
export interface IdempotentTarget extends PartitionedTarget {
  readonly handler: string;
  readonly idempotencyKey: string;
}

export interface WorkflowTarget {
  readonly service: string;
  readonly key: string;
  readonly scope?: string | undefined;
}

/**
 * The partition key. First match: scope, object or workflow key, idempotency key, `bucket`.
 *
 * `bucket` is 0 … SERVICE_BUCKETS − 1, drawn by whoever makes a plain call to a plain service; unused otherwise.
 */
export function derivePartitionKey(
  target: PartitionedTarget,
  hashes: Hashes,
  bucket: number,
): bigint {
  if (target.scope !== undefined) return hashString(target.scope, hashes);
  if (target.key !== undefined) return hashString(target.key, hashes);
  if (target.idempotencyKey === undefined) return bucketKey(target.service, hashes, bucket);
  const hash = hashString(target.idempotencyKey, hashes);
  return bucketKey(target.service, hashes, Number(hash % BigInt(SERVICE_BUCKETS)));
}

/** The id of the one run of a workflow. */
export function workflowInvocationId(target: WorkflowTarget, hashes: Hashes): InvocationId {
  const parts = ['wf', target.scope, target.service, target.key];
  return compose(derivePartitionKey(target, hashes, 0), digest(parts, hashes));
}

/** The id of the one invocation behind an idempotency key. */
export function idempotentInvocationId(target: IdempotentTarget, hashes: Hashes): InvocationId {
  const { scope, service, key, handler, idempotencyKey } = target;
  const parts = ['ik', scope, service, key, handler, idempotencyKey];
  return compose(derivePartitionKey(target, hashes, 0), digest(parts, hashes));
}

/** An id for a call that nothing else identifies: the partition key and a fresh ULID. */
export function composeInvocationId(partitionKey: bigint, ulid: Uint8Array): InvocationId {
  return compose(partitionKey, ulid);
}

function compose(partitionKey: bigint, uuid: Uint8Array): InvocationId {
  const bytes = new Uint8Array(INVOCATION_ID_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, partitionKey);
  bytes.set(uuid.subarray(0, ULID_BYTES), 8);
  return invocationIdFromBytes(bytes);
}

function digest(parts: readonly (string | undefined)[], hashes: Hashes): Uint8Array {
  const separator = String.fromCharCode(SEPARATOR);
  const present = parts.filter((part) => part !== undefined);
  return hashes.sha256(utf8.encode(present.join(separator))).subarray(0, ULID_BYTES);
}

function hashString(text: string, hashes: Hashes): bigint {
  return hashes.xxh3(joinStrings([text], 0));
}

function bucketKey(service: string, hashes: Hashes, bucket: number): bigint {
  const bytes = joinStrings([service, BUCKET_FAMILY], 8);
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, BigInt(bucket), true);
  return hashes.xxh3(bytes);
}

/** Each string as its bytes and a byte that no UTF-8 text holds, then room for `extraBytes`. */
function joinStrings(texts: readonly string[], extraBytes: number): Uint8Array<ArrayBuffer> {
  const encoded = texts.map((text) => utf8.encode(text));
  const length = encoded.reduce((sum, part) => sum + part.length + 1, extraBytes);
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const part of encoded) {
    bytes.set(part, offset);
    offset += part.length;
    bytes[offset++] = STRING_END;
  }
  return bytes;
}
