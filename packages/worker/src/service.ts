/**
 * The worker: hosts partitions as their leader. It is the channel of ingress and admin, the peer of other partitions and the
 * source of introspection, all three by a plain call.
 *
 * A partition is led from `lead` to `letGo`. Requests to one that is not led, or not yet, are answered `not-leader` and sent again by
 * their router; messages to it are dropped and sent again by their outbox; scans of it throw.
 */

import {
  partitionOfInvocation,
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
import type { PartitionHome, WorkerContext } from './context.js';
import { onPartitionFailed, onPartitionStarted } from './events.js';
import { Deadlines } from './invoker/deadlines.js';
import { PayloadMemory } from './invoker/payload-memory.js';
import { LedScans } from './partition/led-scans.js';
import { Partition } from './partition/partition.js';
import type { PartitionSeats } from './partition-seats.js';

export class Worker
  implements
    Service,
    PartitionSeats,
    PartitionChannel,
    PartitionPeer,
    InvocationScan,
    JournalScan,
    StateScan
{
  readonly #options: WorkerOptions;
  readonly #context: WorkerContext;
  readonly #keySpace: KeySpace;
  readonly #deadlines: Deadlines;
  readonly #memory: PayloadMemory;
  readonly #scans: LedScans;
  /** From `lead` to `letGo`. */
  readonly #partitions = new Map<PartitionId, Partition>();
  #isStopped = false;

  constructor(options: WorkerOptions, context: WorkerContext) {
    this.#options = options;
    this.#context = context;
    const { partitionCount } = options;
    const { hashes, clock, scheduler } = context;
    this.#keySpace = { partitionCount, hashes };
    this.#deadlines = new Deadlines(clock, scheduler);
    this.#memory = new PayloadMemory(options.payloadMemoryBytesMax, scheduler);
    this.#scans = new LedScans({ partitionCount, hashes, clock, led: (id) => this.#led(id) });
  }

  /** Where partitions do not come and go: opens every one and takes up its work where the last leader left it. */
  async start(): Promise<void> {
    const { openPartition } = this.#context;
    if (openPartition === undefined) return;
    const partitions: Partition[] = [];
    for (let index = 0; index < this.#options.partitionCount; index += 1) {
      const id = toPartitionId(index);
      partitions.push(this.#add(id, await openPartition(id)));
    }
    for (const partition of partitions) await this.#rebuild(partition);
    for (const partition of partitions) await partition.resumeAttempts();
  }

  async lead(id: PartitionId, home: PartitionHome): Promise<void> {
    await this.#rebuild(this.#add(id, home));
  }

  letGo(id: PartitionId): void {
    const partition = this.#partitions.get(id);
    this.#partitions.delete(id);
    partition?.kill();
  }

  holdAttempts(id: PartitionId): void {
    this.#partitions.get(id)?.holdAttempts();
  }

  async resumeAttempts(id: PartitionId): Promise<void> {
    await this.#partitions.get(id)?.resumeAttempts();
  }

  /** Attempts that hold a slot, in all partitions. */
  get runningCount(): number {
    let count = 0;
    for (const { invoker } of this.#partitions.values()) count += invoker.runningCount;
    return count;
  }

  /** True while nothing waits to be decided or to become durable. */
  get isIdle(): boolean {
    for (const { processor } of this.#partitions.values()) if (!processor.isIdle) return false;
    return true;
  }

  send(request: PartitionRequest, respond: (answer: PartitionAnswer) => void): SentRequest {
    const partition = this.#led(partitionOfRequest(request, this.#keySpace));
    if (partition !== undefined) return partition.send(request, respond);
    const reason = this.#isStopped ? 'stopping' : 'not-leader';
    let isWithdrawn = false;
    this.#context.scheduler.immediate(() => {
      if (!isWithdrawn) respond({ kind: 'unavailable', reason });
    });
    return {
      withdraw: () => {
        isWithdrawn = true;
      },
    };
  }

  deliver(batch: MessageBatch): void {
    this.#led(batch.destination)?.deliver(batch);
  }

  acknowledge(ack: MessageAck): void {
    this.#led(ack.sender)?.acknowledged(ack.destination, ack.upTo);
  }

  scan(options: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    return this.#scans.scan(options);
  }

  scanJournal(options: JournalScanOptions): AsyncGenerator<JournalSnapshot> {
    return this.#scans.scanJournal(options);
  }

  scanState(options: StateScanOptions): AsyncGenerator<StateSnapshot> {
    return this.#scans.scanState(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { scheduler } = this.#context;
    const partitions = [...this.#partitions.values()];
    const stopped = Promise.all(partitions.map((partition) => partition.stop()));
    const { promise, cancel } = limitOf((fn) => scheduler.after(this.#options.flushMsMax, fn));
    await Promise.race([stopped, promise]);
    cancel();
    this.kill();
  }

  /** Stops at once, as a crash would. */
  kill(): void {
    this.#isStopped = true;
    for (const id of [...this.#partitions.keys()]) this.letGo(id);
  }

  #led(id: PartitionId): Partition | undefined {
    const partition = this.#partitions.get(id);
    return partition?.isServing === true ? partition : undefined;
  }

  async #rebuild(partition: Partition): Promise<void> {
    const { clock } = this.#context;
    const startedAt = clock.monotonic();
    await partition.start();
    if (partition.isServing) onPartitionStarted(partition.id, clock.monotonic() - startedAt);
  }

  #add(id: PartitionId, home: PartitionHome): Partition {
    assert(!this.#partitions.has(id), 'a partition is let go before it is led again');
    const context = this.#context;
    const partition = new Partition(id, this.#options, {
      home,
      context,
      peer: context.peer ?? this,
      deadlines: this.#deadlines,
      memory: this.#memory,
      partitionOf: this.#partitionOf,
      onFatal: home.onFatal ?? this.#onFatal(id),
    });
    this.#partitions.set(id, partition);
    return partition;
  }

  #onFatal(id: PartitionId): (error: unknown) => void {
    return (error) => {
      onPartitionFailed(id, error);
      this.#context.onFatal(error);
    };
  }

  readonly #partitionOf = (id: InvocationId): PartitionId =>
    partitionOfInvocation(id, this.#options.partitionCount);
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
