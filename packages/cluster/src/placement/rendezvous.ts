/** Rendezvous hashing: each partition ranks the nodes by chance that everybody computes alike; a node more or less leaves the others' order. */

import type { NodeId } from '@engine/domain';
import type { Checksum } from '@engine/log';
import { encodeUtf8 } from '@engine/stdx';

/** Weights asked so far; a cluster has partitions × nodes of them. */
const WEIGHTS_MAX = 1_000_000;

export class Rendezvous {
  readonly #hash: Checksum;
  readonly #weights = new Map<string, bigint>();

  constructor(hash: Checksum) {
    this.#hash = hash;
  }

  /** The higher, the rather the partition goes to the node. */
  weight(partition: number, node: NodeId): bigint {
    const key = `${partition}/${node}`;
    const known = this.#weights.get(key);
    if (known !== undefined) return known;
    if (this.#weights.size >= WEIGHTS_MAX) this.#weights.clear();
    const weight = this.#hash(encodeUtf8(key));
    this.#weights.set(key, weight);
    return weight;
  }

  /** Negative when the partition prefers `a` to `b`. Total: the ids decide between equal weights. */
  compare(partition: number, a: NodeId, b: NodeId): number {
    const [weightA, weightB] = [this.weight(partition, a), this.weight(partition, b)];
    if (weightA !== weightB) return weightA > weightB ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
}
