/** One partition as its leader runs it: the processor and the rooms around it, wired together. */

import {
  EngineError,
  type InvocationId,
  type PartitionId,
  type PartitionRequest,
} from '@engine/domain';
import { RecordWriter } from '@engine/log';
import { createUlidFactory } from '@engine/runtime';
import { decide } from '@engine/state-machine';
import { PartitionScan, PartitionState } from '@engine/storage';
import type { MessageBatch, PartitionPeer, SentRequest } from '@engine/wire';

import { flushActions, performAction, type Performers } from '../actions/perform-action.js';
import type { WorkerOptions } from '../config-shape.js';
import type { PartitionHome, WorkerContext } from '../context.js';
import { CalleeIds } from '../invoker/callee-ids.js';
import type { Deadlines } from '../invoker/deadlines.js';
import { Invoker } from '../invoker/invoker.js';
import type { PayloadMemory } from '../invoker/payload-memory.js';
import { Silences } from '../invoker/silences.js';
import { Acknowledgements } from './acknowledgements.js';
import { Outbox } from './outbox.js';
import { PartitionProcessor } from './processor.js';
import { recoverOutbox, recoverWork } from './recovery.js';
import { RequestDesk, type Respond } from './requests.js';
import { TimerWindow } from './timers.js';

export interface PartitionDependencies {
  readonly home: PartitionHome;
  readonly context: WorkerContext;
  readonly peer: PartitionPeer;
  /** Shared by all partitions of a worker. */
  readonly deadlines: Deadlines;
  readonly memory: PayloadMemory;
  readonly partitionOf: (id: InvocationId) => PartitionId;
  /** The partition cannot go on; it has been killed. */
  readonly onFatal: (error: unknown) => void;
}

export class Partition {
  readonly id: PartitionId;
  readonly state: PartitionState;
  readonly scan: PartitionScan;
  readonly processor: PartitionProcessor;
  readonly #performers: Performers;
  readonly #isShared: boolean;
  /** Told when the partition ends; each waits for a record that may never be durable. */
  readonly #readers = new Set<() => void>();
  #phase: 'recovering' | 'serving' | 'over' = 'recovering';

  constructor(id: PartitionId, options: WorkerOptions, dependencies: PartitionDependencies) {
    const { home, context } = dependencies;
    const { isShared = false, timeMin = 0 } = home;
    this.id = id;
    this.#isShared = isShared;
    this.state = new PartitionState({ place: home.place }, home.store);
    this.scan = new PartitionScan(home.place, home.store);
    this.processor = new PartitionProcessor(
      {
        id,
        isShared,
        timeMin,
        partitionOf: dependencies.partitionOf,
        sha256: context.hashes.sha256,
      },
      {
        state: this.state,
        log: home.log,
        records: new RecordWriter(home.log.position, context.hashes.xxh3),
        clock: context.clock,
        scheduler: context.scheduler,
        decide,
        perform: (action) => {
          performAction(action, this.#performers);
        },
        flush: () => {
          flushActions(this.#performers);
        },
        onFatal: (error) => {
          this.kill();
          dependencies.onFatal(error);
        },
      },
    );
    this.#performers = this.#rooms(options, dependencies);
    recoverOutbox(this.#performers.outbox, options.partitionCount);
  }

  get invoker(): Invoker {
    return this.#performers.invoker;
  }

  /** True between the end of `start` and the end of the partition: requests and messages are taken. */
  get isServing(): boolean {
    return this.#phase === 'serving';
  }

  /** Takes up timers and messages that the store holds, then serves. Attempts wait for `resumeAttempts`. */
  async start(): Promise<void> {
    await recoverWork(this.#performers);
    if (this.#phase === 'recovering') this.#phase = 'serving';
  }

  /** Starts the attempts that the store knows. Resolves when they run or wait for a slot. */
  resumeAttempts(): Promise<void> {
    return this.invoker.resume();
  }

  /** Aborts the attempts and starts none. */
  holdAttempts(): void {
    this.invoker.hold();
  }

  /**
   * Resolves when what the store holds then is what the log holds, so far as this reader can know: where others may lead, after an
   * append of this leader. Rejects with EngineError `unavailable`, not-leader, when the partition ends before.
   */
  current(): Promise<void> {
    if (this.#phase === 'over') return Promise.reject(notLed(this.id));
    if (!this.#isShared) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onOver = (): void => {
        reject(notLed(this.id));
      };
      this.#readers.add(onOver);
      const release = (): void => {
        this.#readers.delete(onOver);
        resolve();
      };
      this.processor.submit({ kind: 'Fence', release });
    });
  }

  send(request: PartitionRequest, respond: Respond): SentRequest {
    return this.#performers.requests.send(request, respond);
  }

  /** Messages of another partition. Those that find the queue full are dropped: the sender has them. */
  deliver(batch: MessageBatch): void {
    const { sender, first, messages } = batch;
    for (const [offset, message] of messages.entries()) {
      const sequence = first + offset;
      if (!this.processor.offer({ kind: 'MessageArrived', at: 0, sender, sequence, message }))
        return;
    }
  }

  /** Another partition has made our messages durable. */
  acknowledged(destination: PartitionId, upTo: number): void {
    this.#performers.outbox.acknowledged(destination, upTo);
  }

  /** Takes no more requests, drops the attempts, and makes durable what is decided. */
  async stop(): Promise<void> {
    const { requests, timers, invoker } = this.#performers;
    requests.stop();
    timers.stop();
    invoker.stop();
    await this.processor.flushed();
    this.kill();
  }

  /** Stops at once, as a crash would: nothing more is decided or released. */
  kill(): void {
    const { requests, timers, invoker, outbox } = this.#performers;
    this.#phase = 'over';
    this.processor.kill();
    timers.stop();
    invoker.stop();
    outbox.stop();
    requests.abandon();
    for (const onOver of this.#readers) onOver();
    this.#readers.clear();
  }

  #rooms(options: WorkerOptions, dependencies: PartitionDependencies): Performers {
    const { context, home, peer, deadlines, memory, onFatal } = dependencies;
    const { clock, scheduler, random, hashes, schema, transport } = context;
    const { id, processor, state, scan } = this;
    const fail = (error: unknown): void => {
      this.kill();
      onFatal(error);
    };
    const calleeIds = new CalleeIds(hashes, random, createUlidFactory(clock, random));
    const silences = new Silences(clock);
    const room = {
      state,
      scan,
      processor,
      schema,
      hashes,
      calleeIds,
      transport,
      deadlines,
      silences,
      memory,
    };
    return {
      requests: new RequestDesk({
        processor,
        scheduler,
        state,
        schema,
        stateBytesMax: options.invoker.messageSizeBytesMax,
      }),
      timers: new TimerWindow(
        { inMemoryMax: options.timersInMemoryMax },
        { clock, scheduler, sink: processor, onFatal: fail, scan: timerScan(scan) },
      ),
      invoker: new Invoker({
        room: {
          ...room,
          clock,
          random,
          options: options.invoker,
          mayBegin: home.mayBeginAttempts ?? always,
        },
        onFatal: fail,
      }),
      outbox: new Outbox({
        state,
        scheduler,
        sink: processor,
        deliver: ({ destination, first, messages }) => {
          peer.deliver({ sender: id, destination, first, messages });
        },
      }),
      acknowledgements: new Acknowledgements((sender, upTo) => {
        peer.acknowledge({ sender, destination: id, upTo });
      }),
    };
  }
}

const always = (): boolean => true;

/** Thrown to readers of a partition that is led elsewhere, or by nobody. */
export function notLed(id: PartitionId): EngineError {
  const reason = `partition ${String(id)} is not led here`;
  return new EngineError('unavailable', reason, { details: { reason: 'not-leader' } });
}

function timerScan(scan: PartitionScan): ConstructorParameters<typeof TimerWindow>[1]['scan'] {
  return async (after, limit) => {
    const page = await scan.timers(after, limit);
    return page.map(({ key, row }) => ({ key, incarnation: row.incarnation }));
  };
}
