/**
 * Which partition owns what. Ingress, admin and workers ask the same functions, so a request arrives where its state is
 * (docs/design/log-and-epochs.md).
 */

import {
  derivePartitionKey,
  shardOfInvocation,
  shardOfPartitionKey,
  type Hashes,
  type InvocationId,
} from './ids/index.js';
import type { PartitionRequest } from './partition-api.js';
import { toPartitionId, type PartitionId } from './partition.js';

/** The key space of one cluster; the count never changes. */
export interface KeySpace {
  readonly partitionCount: number;
  readonly hashes: Hashes;
}

export function partitionOfInvocation(id: InvocationId, partitionCount: number): PartitionId {
  return toPartitionId(shardOfInvocation(id, partitionCount));
}

/** Everything of one object key lives together, whatever the service. */
export function partitionKeyOfObject(key: string, hashes: Hashes): bigint {
  return derivePartitionKey({ service: '', key }, hashes, 0);
}

/** Of the key of an object or workflow. */
export function partitionOfKey(key: string, { partitionCount, hashes }: KeySpace): PartitionId {
  return toPartitionId(shardOfPartitionKey(partitionKeyOfObject(key, hashes), partitionCount));
}

export function partitionOfRequest(request: PartitionRequest, keySpace: KeySpace): PartitionId {
  switch (request.kind) {
    case 'invoke':
      return partitionOfInvocation(request.invocation.id, keySpace.partitionCount);
    case 'replace-state':
      return partitionOfKey(request.key, keySpace);
    default:
      return partitionOfInvocation(request.invocationId, keySpace.partitionCount);
  }
}
