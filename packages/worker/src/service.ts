/**
 * The worker: hosts partitions as their leader. It is the channel of ingress and admin, the peer of other partitions and the
 * source of introspection, all three by a plain call.
 */

import {
  EngineError,
  partitionKeyOfObject,
  partitionOfInvocation,
  partitionOfKey,
  partitionOfRequest,
  toPartitionId,
  type InvocationId,
  type KeySpace,
  type PartitionAnswer,
  type PartitionId,
  type PartitionRequest,
} from '@engine/domain';
import type { Service } from '@engine/runtime';
import { assert } from '@engine/stdx';
import type {
  InvocationScan,
  InvocationSnapshot,
  JournalScan,
  JournalScanOptions,
  JournalSnapshot,
  MessageAck,
  MessageBatch,
  PartitionChannel,
  PartitionPeer,
  ScanOptions,
  SentRequest,
  StateScan,
  StateScanOptions,
  StateSnapshot,
} from '@engine/wire';

import type { WorkerOptions } from './config-shape.js';
import type { WorkerContext } from './context.js';
import { onPartitionFailed, onPartitionStarted } from './events.js';
import { Deadlines } from './invoker/deadlines.js';
import { PayloadMemory } from './invoker/payload-memory.js';
import { Partition } from './partition/partition.js';
import { snapshotOf, snapshots } from './partition/snapshots.js';
import { journalSnapshots, stateSnapshots } from './partition/stored-snapshots.js';

export class Worker
  implements Service, PartitionChannel, PartitionPeer, InvocationScan, JournalScan, StateScan
{
  readonly #options: WorkerOptions;
  readonly #context: WorkerContext;
  readonly #keySpace: KeySpace;
  readonly #deadlines: Deadlines;
  readonly #memory: PayloadMemory;
  readonly #partitions: Partition[] = [];

  constructor(options: WorkerOptions, context: WorkerContext) {
    this.#options = options;
    this.#context = context;
    this.#keySpace = { partitionCount: options.partitionCount, hashes: context.hashes };
    this.#deadlines = new Deadlines(context.clock, context.scheduler);
    this.#memory = new PayloadMemory(options.payloadMemoryBytesMax, context.scheduler);
  }

  /** Opens every partition and takes up its work where the last leader left it. */
  async start(): Promise<void> {
    for (let id = 0; id < this.#options.partitionCount; id += 1) {
      this.#partitions.push(await this.#open(toPartitionId(id)));
    }
    for (const partition of this.#partitions) {
      const startedAt = this.#context.clock.monotonic();
      await partition.start();
      onPartitionStarted(partition.id, this.#context.clock.monotonic() - startedAt);
    }
  }

  /** Attempts that hold a slot, in all partitions. */
  get runningCount(): number {
    return this.#partitions.reduce((sum, partition) => sum + partition.invoker.runningCount, 0);
  }

  /** True while nothing waits to be decided or to become durable. */
  get isIdle(): boolean {
    return this.#partitions.every((partition) => partition.processor.isIdle);
  }

  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    const partition = this.#partitions[partitionOfRequest(request, this.#keySpace)];
    if (partition !== undefined) return partition.send(request, respond);
    let isWithdrawn = false;
    this.#context.scheduler.immediate(() => {
      if (!isWithdrawn) respond({ kind: 'unavailable', reason: 'not-leader' });
    });
    return {
      withdraw: () => {
        isWithdrawn = true;
      },
    };
  }

  deliver(batch: MessageBatch): void {
    this.#partition(batch.destination).deliver(batch);
  }

  acknowledge(ack: MessageAck): void {
    this.#partition(ack.sender).acknowledged(ack.destination, ack.upTo);
  }

  async *scan(options: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    if (options.ids !== undefined) {
      this.#requireLed(options.partition);
      yield* this.#scanIds(options.ids.slice(0, options.limit));
      return;
    }
    const { after, limit, partition: only } = options;
    const from = after === undefined ? undefined : this.#partitionOf(after);
    const now = this.#context.clock.now();
    yield* this.#inTurn({ from, only, limit }, (partition, isFirst) =>
      snapshots(partition, isFirst ? after : undefined, now),
    );
  }

  async *scanJournal(options: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    const { id, limit, after, partition: only } = options;
    const start = id ?? after?.id;
    const from = start === undefined ? undefined : this.#partitionOf(start);
    const now = this.#context.clock.now();
    yield* this.#inTurn({ from, isOnly: id !== undefined, only, limit }, (partition, isFirst) =>
      journalSnapshots(partition, { id, after: isFirst ? after : undefined }, now),
    );
  }

  async *scanState(options: StateScanOptions): AsyncGenerator<StateSnapshot> {
    const { service, after, limit, partition: only } = options;
    const key = service === undefined ? undefined : options.key;
    const start = key ?? after?.key;
    const from = start === undefined ? undefined : partitionOfKey(start, this.#keySpace);
    const keyOf = this.#partitionKeyOf;
    yield* this.#inTurn({ from, isOnly: key !== undefined, only, limit }, (partition, isFirst) =>
      stateSnapshots(partition, { service, key, after: isFirst ? after : undefined }, keyOf),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { scheduler } = this.#context;
    const stopped = Promise.all(this.#partitions.map((partition) => partition.stop()));
    const { promise, cancel } = limitOf((fn) => scheduler.after(this.#options.flushMsMax, fn));
    await Promise.race([stopped, promise]);
    cancel();
    this.kill();
  }

  /** Stops at once, as a crash would. */
  kill(): void {
    for (const partition of this.#partitions) partition.kill();
  }

  /**
   * What `read` finds in the partitions, one behind the other: from `from` on, or only there; of those, only in `only`. At least
   * one, if there is one.
   */
  async *#inTurn<Found>(
    range: ScanRange,
    read: (partition: Partition, isFirst: boolean) => AsyncIterable<Found>,
  ): AsyncGenerator<Found> {
    const first = range.from ?? 0;
    let left = range.limit;
    for (const partition of this.#partitionsOf(range)) {
      for await (const found of read(partition, partition.id === first)) {
        yield found;
        left -= 1;
        if (left <= 0) return;
      }
    }
  }

  #partitionsOf({ from = toPartitionId(0), isOnly, only }: ScanRange): readonly Partition[] {
    const partitions = this.#partitions.slice(from, isOnly === true ? from + 1 : undefined);
    if (only === undefined) return partitions;
    this.#requireLed(only);
    return partitions.filter(({ id }) => id === only);
  }

  #requireLed(partition: PartitionId | undefined): void {
    if (partition === undefined || this.#partitions[partition] !== undefined) return;
    const reason = `partition ${partition} is not led here`;
    throw new EngineError('unavailable', reason, { details: { reason: 'not-leader' } });
  }

  *#scanIds(ids: readonly InvocationId[]): Generator<InvocationSnapshot> {
    for (const id of ids) {
      const partition = this.#partition(this.#partitionOf(id));
      const found = snapshotOf(partition, id, this.#context.clock.now());
      if (found !== undefined) yield found;
    }
  }

  async #open(id: PartitionId): Promise<Partition> {
    const context = this.#context;
    return new Partition(id, this.#options, {
      home: await context.openPartition(id),
      context,
      peer: context.peer ?? this,
      deadlines: this.#deadlines,
      memory: this.#memory,
      partitionOf: this.#partitionOf,
      onFatal: (error) => {
        onPartitionFailed(id, error);
        context.onFatal(error);
      },
    });
  }

  readonly #partitionOf = (id: InvocationId): PartitionId =>
    partitionOfInvocation(id, this.#options.partitionCount);

  readonly #partitionKeyOf = (key: string): bigint =>
    partitionKeyOfObject(key, this.#context.hashes);

  #partition(id: PartitionId): Partition {
    const partition = this.#partitions[id];
    assert(partition !== undefined, 'a worker leads the partitions that it is asked about');
    return partition;
  }
}

/** Partitions that a scan goes through. */
interface ScanRange {
  readonly from: PartitionId | undefined;
  readonly isOnly?: boolean;
  readonly only: PartitionId | undefined;
  readonly limit: number;
}

/** A promise that resolves when a timer runs out, and the way to call it off. */
function limitOf(after: (fn: () => void) => { cancel(): void }): {
  readonly promise: Promise<void>;
  readonly cancel: () => void;
} {
  let cancel = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    const timer = after(resolve);
    cancel = () => {
      timer.cancel();
    };
  });
  return { promise, cancel };
}
