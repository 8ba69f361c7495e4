/**
 * What the logs hold, read apart from all workers: the rows that every store must have, at every sequence. What left a worker is
 * compared with it, for what is not in the log nobody may see.
 */

import type { Hashes, PartitionId } from '@engine/domain';
import { LOG_START, type LogPosition, type LogRecord } from '@engine/log';
import { isLogBreak, RecordAssembler } from '@engine/nats/contract';
import { PARTITION_PREFIX_BYTES, partitionPrefix, type PartitionState } from '@engine/storage';
import { visitMutations } from '@engine/wire';

import type { DiskKey } from '../simulator/disk.js';
import { diskKey } from '../simulator/kv-store.js';
import {
  frozenPartition,
  GENERATION,
  readOnlyStore,
  stateOf,
  type FrozenPartition,
  type RowsView,
} from '../simulator/rows-view.js';
import type { Lab } from '../workloads/lab.js';
import type { LogServers } from './log-servers.js';
import { RowsDigest } from './rows-digest.js';

/** Of the simulated logs; the servers know them by partition. */
export const LOG_IDENTITY = { cluster: 'simulated', incarnation: 1n };

interface Kept {
  readonly position: LogPosition;
  readonly digest: bigint;
}

class PartitionTruth {
  readonly contents = new Map<DiskKey, Uint8Array>();
  /** Index = sequence. */
  readonly history: Kept[] = [{ position: LOG_START, digest: 0n }];
  readonly assembler: RecordAssembler;
  readonly digest: RowsDigest;
  next = 1;
  /** What cannot be read any more: nothing after it is. */
  isBroken = false;

  constructor(partition: PartitionId, hashes: Hashes) {
    const identity = { ...LOG_IDENTITY, partition };
    this.assembler = new RecordAssembler({ identity, checksum: hashes.xxh3, from: LOG_START });
    this.digest = new RowsDigest(hashes.xxh3);
  }
}

export class LogTruth implements RowsView {
  readonly #servers: LogServers;
  readonly #lab: Lab;
  readonly #partitions: readonly PartitionTruth[];

  constructor(dependencies: {
    readonly servers: LogServers;
    readonly hashes: Hashes;
    readonly lab: Lab;
  }) {
    const { servers, hashes, lab } = dependencies;
    this.#servers = servers;
    this.#lab = lab;
    this.#partitions = servers
      .partitions()
      .map((partition) => new PartitionTruth(partition, hashes));
  }

  state(partition: PartitionId): PartitionState {
    return stateOf(readOnlyStore(this.#read(partition).contents, []), partition);
  }

  freeze(): (partition: PartitionId) => FrozenPartition {
    const stores = this.#servers.partitions().map((partition) => {
      const { contents } = this.#read(partition);
      const kept = new Map(contents);
      return readOnlyStore(kept, [...kept.keys()].sort());
    });
    return (partition) => {
      const store = stores[partition];
      if (store === undefined) throw new Error(`there is no partition ${String(partition)}`);
      return frozenPartition(store, partition);
    };
  }

  /** Where the log ends; LOG_START before its first record. */
  end(partition: PartitionId): LogPosition {
    return this.#read(partition).history.at(-1)?.position ?? LOG_START;
  }

  /** The record's position and the digest of all rows after it; undefined: there is no such record. */
  at(partition: PartitionId, sequence: bigint): Kept | undefined {
    return this.#read(partition).history[Number(sequence)];
  }

  /** The rows after the last record; keys relative to the partition. */
  rows(partition: PartitionId): ReadonlyMap<DiskKey, Uint8Array> {
    const { contents } = this.#read(partition);
    return new Map([...contents].map(([key, value]) => [key.slice(PARTITION_PREFIX_BYTES), value]));
  }

  /** Its log is about to lose records: what comes after those that were read is not looked at. */
  forget(partition: PartitionId): void {
    this.#read(partition).isBroken = true;
  }

  /** Reads on. Call it before records are removed: what was read stays known. */
  readAll(): void {
    for (const partition of this.#servers.partitions()) this.#read(partition);
  }

  #read(partition: PartitionId): PartitionTruth {
    const truth = this.#partitions[partition];
    if (truth === undefined) throw new Error(`there is no partition ${String(partition)}`);
    const stream = this.#servers.stream(partition);
    while (!truth.isBroken && truth.next <= stream.last) {
      const message = stream.read(truth.next);
      const taken = message === undefined ? undefined : truth.assembler.take(message.payload);
      truth.next += 1;
      if (taken === undefined) continue;
      if (isLogBreak(taken)) {
        truth.isBroken = true;
        this.#lab.violation(
          `the log of partition ${String(partition)} cannot be read: ${JSON.stringify(taken, printable)}`,
        );
      } else this.#apply(partition, truth, taken);
    }
    return truth;
  }

  #apply(partition: PartitionId, truth: PartitionTruth, record: LogRecord): void {
    const prefix = diskKey(partitionPrefix({ partition, generation: GENERATION }));
    visitMutations(record.mutations, (key, value) => {
      const at = prefix + diskKey(key);
      truth.digest.replace(key, truth.contents.get(at), value);
      if (value === undefined) truth.contents.delete(at);
      else truth.contents.set(at, value.slice());
    });
    const { epoch, sequence, chain } = record;
    truth.history.push({ position: { epoch, sequence, chain }, digest: truth.digest.value });
  }
}

function printable(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
