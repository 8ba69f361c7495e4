/** One stream of a process to a worker, opened again after it broke, as long as it is wanted. */

import type { MessageAck, MessageBatch, PartitionChannel } from '@engine/wire';

import type { ServerProcess } from '../simulator/process.js';
import type { Station } from './links.js';
import { SimStream, type StreamSurroundings } from './sim-stream.js';

/** What a worker process offers to those that connect. */
export interface WorkerDoor {
  readonly channel: PartitionChannel;
  /** `answer` gives acknowledgements of what came over the same way. */
  deliver(batch: MessageBatch, answer: (ack: MessageAck) => void): void;
  /** The way `answer` is gone. */
  forget(answer: (ack: MessageAck) => void): void;
}

/** A worker on the network, while its process listens. */
export interface WorkerStation extends Station {
  readonly door: WorkerDoor | undefined;
}

export interface WayDependencies extends StreamSurroundings {
  readonly from: Station;
  readonly process: ServerProcess;
  readonly worker: (address: string) => WorkerStation | undefined;
  /** Share of messages between partitions that are dropped, and that come twice. */
  readonly messageFaults: { readonly loss: number; readonly repetition: number };
}

/** First and longest wait before a connection is tried again, ms. */
const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 1_000;

/** A connection that is not made in this time is tried anew. */
const CONNECT_MS_MAX = 5_000;

/** Keeps one stream to a worker open as long as it is wanted. */
export abstract class Way {
  readonly dependencies: WayDependencies;
  readonly #address: string;
  stream: SimStream | undefined;
  #waitMs = RECONNECT_MS_MIN;
  #attempt = 0;
  #isStopped = false;

  constructor(address: string, dependencies: WayDependencies) {
    this.#address = address;
    this.dependencies = dependencies;
    this.#connect();
  }

  get isOpen(): boolean {
    return this.stream !== undefined;
  }

  stop(): void {
    this.#isStopped = true;
    this.stream?.close(this.dependencies.process);
    this.#broken();
  }

  /** In the process of the worker, before anything else comes over the stream. */
  protected abstract accept(door: WorkerDoor, server: ServerProcess, stream: SimStream): void;
  protected abstract opened(): void;
  protected abstract lost(): void;

  #connect(): void {
    const { from, process, worker, links } = this.dependencies;
    if (this.#isStopped) return;
    this.#attempt += 1;
    const attempt = this.#attempt;
    const isCurrent = (): boolean => attempt === this.#attempt && this.stream === undefined;
    process.scheduler.after(CONNECT_MS_MAX, () => {
      if (isCurrent()) this.#connect();
    });
    const station = worker(this.#address);
    const server = station?.process;
    if (station?.door === undefined || server === undefined) {
      if (!links.isCut(from.id, this.#address)) this.#connectLater();
      return;
    }
    links.send(from, station, () => {
      const { door } = station;
      if (door === undefined || !process.isAlive) return;
      const ends = [
        { id: from.id, process },
        { id: station.id, process: server },
      ] as const;
      const stream = new SimStream(...ends, this.dependencies);
      this.accept(door, server, stream);
      stream.send(server, () => {
        if (!isCurrent() || this.#isStopped) stream.close(process);
        else this.#opened(stream);
      });
    });
  }

  #connectLater(): void {
    this.#attempt += 1;
    const { process } = this.dependencies;
    const waitMs = this.#waitMs * (0.5 + process.random.float() / 2);
    this.#waitMs = Math.min(this.#waitMs * 2, RECONNECT_MS_MAX);
    process.scheduler.after(waitMs, () => {
      if (this.stream === undefined) this.#connect();
    });
  }

  #opened(stream: SimStream): void {
    this.stream = stream;
    this.#waitMs = RECONNECT_MS_MIN;
    stream.onBroken(this.dependencies.process, () => {
      if (this.stream !== stream) return;
      this.#broken();
      this.#connectLater();
    });
    this.opened();
  }

  #broken(): void {
    if (this.stream === undefined) return;
    this.stream = undefined;
    this.lost();
  }
}
