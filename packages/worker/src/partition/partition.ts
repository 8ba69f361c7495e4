/** One partition as its leader runs it: the processor and the rooms around it, wired together. */

import type { InvocationId, PartitionId, PartitionRequest } from '@engine/domain';
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
  readonly onFatal: (error: unknown) => void;
}

export class Partition {
  readonly id: PartitionId;
  readonly state: PartitionState;
  readonly scan: PartitionScan;
  readonly processor: PartitionProcessor;
  readonly #performers: Performers;

  constructor(id: PartitionId, options: WorkerOptions, dependencies: PartitionDependencies) {
    const { home, context } = dependencies;
    this.id = id;
    this.state = new PartitionState({ place: home.place }, home.store);
    this.scan = new PartitionScan(home.place, home.store);
    this.processor = new PartitionProcessor(
      { id, partitionOf: dependencies.partitionOf, sha256: context.hashes.sha256 },
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

  /** Takes up the work that the store holds. */
  start(): Promise<void> {
    return recoverWork(this.#performers);
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
    const { requests, timers, invoker, outbox } = this.#performers;
    requests.stop();
    timers.stop();
    invoker.stop();
    await this.processor.flushed();
    outbox.stop();
    requests.abandon();
    this.processor.kill();
  }

  /** Stops at once, as a crash would: nothing more is decided or released. */
  kill(): void {
    const { requests, timers, invoker, outbox } = this.#performers;
    this.processor.kill();
    timers.stop();
    invoker.stop();
    outbox.stop();
    requests.abandon();
  }

  #rooms(options: WorkerOptions, dependencies: PartitionDependencies): Performers {
    const { context, peer, deadlines, memory, onFatal } = dependencies;
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
        room: { ...room, clock, random, options: options.invoker },
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

function timerScan(scan: PartitionScan): ConstructorParameters<typeof TimerWindow>[1]['scan'] {
  return async (after, limit) => {
    const page = await scan.timers(after, limit);
    return page.map(({ key, row }) => ({ key, incarnation: row.incarnation }));
  };
}
