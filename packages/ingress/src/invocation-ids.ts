/**
 * Which id a new invocation gets: workflow runs and idempotent calls always the same one, all others a fresh one on the
 * partition of their key, or of a bucket drawn at random for plain services.
 */

import {
  composeInvocationId,
  derivePartitionKey,
  idempotentInvocationId,
  SERVICE_BUCKETS,
  workflowInvocationId,
  type Hashes,
  type InvocationId,
  type ResolvedHandler,
  type ServiceSchema,
} from '@engine/domain';
import type { Random, UlidFactory } from '@engine/runtime';

export interface InvocationIdentity {
  readonly handler: ResolvedHandler;
  /** Set exactly for handlers of objects and workflows. */
  readonly key: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export class InvocationIds {
  readonly #hashes: Hashes;
  readonly #random: Random;
  readonly #ulid: UlidFactory;
  // Partition keys of the buckets of a service; they go when the schema version goes that named the service.
  readonly #bucketKeys = new WeakMap<ServiceSchema, (bigint | undefined)[]>();

  constructor(dependencies: {
    readonly hashes: Hashes;
    readonly random: Random;
    readonly ulid: UlidFactory;
  }) {
    this.#hashes = dependencies.hashes;
    this.#random = dependencies.random;
    this.#ulid = dependencies.ulid;
  }

  idFor(identity: InvocationIdentity): InvocationId {
    const { handler, key, idempotencyKey } = identity;
    const service = handler.service.name;
    if (handler.kind === 'workflow-run' && key !== undefined) {
      return workflowInvocationId({ service, key }, this.#hashes);
    }
    if (idempotencyKey !== undefined) {
      const target = { service, key, handler: handler.handler.name, idempotencyKey };
      return idempotentInvocationId(target, this.#hashes);
    }
    const partitionKey =
      key === undefined
        ? this.#randomBucketKey(handler.service)
        : derivePartitionKey({ service, key }, this.#hashes, 0);
    return composeInvocationId(partitionKey, this.#ulid());
  }

  #randomBucketKey(service: ServiceSchema): bigint {
    const bucket = Math.floor(this.#random.float() * SERVICE_BUCKETS);
    let keys = this.#bucketKeys.get(service);
    if (keys === undefined) {
      keys = new Array<bigint | undefined>(SERVICE_BUCKETS).fill(undefined);
      this.#bucketKeys.set(service, keys);
    }
    return (keys[bucket] ??= derivePartitionKey({ service: service.name }, this.#hashes, bucket));
  }
}
