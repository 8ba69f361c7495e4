/** Ids of callees that nothing else identifies: where their target lives, and a fresh ULID. */

import {
  composeInvocationId,
  derivePartitionKey,
  SERVICE_BUCKETS,
  type Hashes,
  type InvocationId,
} from '@engine/domain';
import type { Random, UlidFactory } from '@engine/runtime';

export class CalleeIds {
  readonly #hashes: Hashes;
  readonly #random: Random;
  readonly #ulid: UlidFactory;
  /** Partition keys of the buckets of plain services, by service: SERVICE_BUCKETS for each service that is called. */
  readonly #bucketKeys = new Map<string, (bigint | undefined)[]>();

  constructor(hashes: Hashes, random: Random, ulid: UlidFactory) {
    this.#hashes = hashes;
    this.#random = random;
    this.#ulid = ulid;
  }

  fresh(service: string, key: string | undefined): InvocationId {
    const partitionKey =
      key === undefined
        ? this.#bucketKey(service)
        : derivePartitionKey({ service, key }, this.#hashes, 0);
    return composeInvocationId(partitionKey, this.#ulid());
  }

  #bucketKey(service: string): bigint {
    let keys = this.#bucketKeys.get(service);
    if (keys === undefined) {
      keys = [];
      this.#bucketKeys.set(service, keys);
    }
    const bucket = Math.floor(this.#random.float() * SERVICE_BUCKETS);
    const known = keys[bucket];
    if (known !== undefined) return known;
    const made = derivePartitionKey({ service }, this.#hashes, bucket);
    keys[bucket] = made;
    return made;
  }
}
