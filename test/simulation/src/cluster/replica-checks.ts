/** Stores that follow a log hold the rows that the log says, at whatever record they stand. */

import type { PartitionId } from '@engine/domain';
import type { Checksum } from '@engine/log';

import type { Lab } from '../workloads/lab.js';
import type { LogTruth } from './log-truth.js';
import { storedReplica } from './replica-disk.js';
import type { WorkerNode } from './worker-node.js';

export class ReplicaChecks {
  readonly #truth: LogTruth;
  readonly #lab: Lab;
  readonly #checksum: Checksum;
  #compared = 0;

  constructor(dependencies: {
    readonly truth: LogTruth;
    readonly lab: Lab;
    readonly checksum: Checksum;
  }) {
    this.#truth = dependencies.truth;
    this.#lab = dependencies.lab;
    this.#checksum = dependencies.checksum;
  }

  /** Stores that were compared with their log. */
  get comparedCount(): number {
    return this.#compared;
  }

  /** Compares every store on the disk of a node. */
  check(node: WorkerNode, partitions: readonly PartitionId[]): void {
    for (const partition of partitions) {
      const stored = storedReplica(node.disk, partition, this.#checksum);
      if (stored === undefined) continue;
      this.#compared += 1;
      const { sequence, chain } = stored.position;
      const expected = this.#truth.at(partition, sequence);
      const where = `partition ${String(partition)} on ${node.id} at record ${String(sequence)}`;
      if (expected?.position.chain !== chain) {
        this.#lab.violation(`${where} is not in the log`);
      } else if (expected.digest !== stored.digest) {
        this.#lab.violation(`${where} holds other rows than the log says`);
      }
    }
  }
}
