/** Stores that follow a log hold the rows that the log says, at whatever record they stand. */

import type { PartitionId } from '@engine/domain';
import type { Checksum } from '@engine/log';
import { TABLES } from '@engine/storage';

import type { DiskKey } from '../simulator/disk.js';
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
        const isNewest = sequence === this.#truth.end(partition).sequence;
        const what = isNewest ? `: ${difference(stored.rows, this.#truth.rows(partition))}` : '';
        this.#lab.violation(`${where} holds other rows than the log says${what}`);
      }
    }
  }
}

/** The rows that differ, by table. */
function difference(
  stored: ReadonlyMap<DiskKey, Uint8Array>,
  expected: ReadonlyMap<DiskKey, Uint8Array>,
): string {
  const found: string[] = [];
  for (const [key, value] of expected) {
    const own = stored.get(key);
    if (own === undefined) found.push(`misses ${nameOf(key)}`);
    else if (Buffer.compare(own, value) !== 0) found.push(`differs in ${nameOf(key)}`);
  }
  for (const key of stored.keys()) if (!expected.has(key)) found.push(`has ${nameOf(key)}`);
  return found.slice(0, 5).join(', ');
}

function nameOf(key: DiskKey): string {
  const table = Object.entries(TABLES).find(([, number]) => number === key.charCodeAt(0))?.[0];
  return `${table ?? 'a row of no table'} ${Buffer.from(key.slice(1), 'latin1').toString('hex')}`;
}
