/** What a story may put between the parts of a cluster: a version that differs, or a rule that is broken on purpose. */

import type { FormatRange, PartitionId } from '@engine/domain';
import type { SharedLog } from '@engine/log';
import type { LogStream } from '@engine/nats/contract';
import type { KvStore, RangeReader } from '@engine/storage';
import type { MessageBatch } from '@engine/wire';
import type { PartitionSeats, WorkerOptions } from '@engine/worker';

export interface ClusterHooks {
  /** Of the binary that runs on a node. */
  readonly formatsOf: (node: string) => FormatRange;
  readonly optionsOf: (node: string, options: WorkerOptions) => WorkerOptions;
  /** Between a log and the process that uses it. */
  readonly log: (log: SharedLog, node: string) => SharedLog;
  /** Between a stream and the log that reads and writes it. */
  readonly stream: (stream: LogStream, node: string, partition: PartitionId) => LogStream;
  /** Between a disk and the replicas on it. */
  readonly store: (store: KvStore & RangeReader, node: string) => KvStore & RangeReader;
  /** Between a worker and those who decide what it leads. */
  readonly seats: (seats: PartitionSeats, node: string) => PartitionSeats;
  /** Messages of another partition, as a worker gets them. */
  readonly batch: (batch: MessageBatch) => MessageBatch;
}

/** Of a binary that reads and writes what this code does. */
export const FORMATS: FormatRange = { min: 1, max: 1 };

export const NO_HOOKS: ClusterHooks = {
  formatsOf: () => FORMATS,
  optionsOf: (_, options) => options,
  log: (log) => log,
  stream: (stream) => stream,
  store: (store) => store,
  seats: (seats) => seats,
  batch: (batch) => batch,
};
