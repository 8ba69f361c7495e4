/** Reads a log into a replica: on and on, and to its present end when that is asked. One reading at a time. */

import type { PartitionId } from '@engine/domain';
import type { FollowOutcome, LogBreak, LogPosition, LogRecord, SharedLog } from '@engine/log';
import { delay, type Scheduler } from '@engine/runtime';

import { onReadFailed } from '../events.js';
import type { HostedReplica } from './hosted-replica.js';

/** Between a reading that failed and the next one. */
const RETRY_MS = 500;

export type EndReached = Extract<FollowOutcome, { kind: 'at-end' }>;

/** Nothing of it is called any more after the reader was stopped. */
export interface LogReaderListener {
  onRecord(position: LogPosition): void;
  /** `read`: what was given to `readToEnd`. */
  onEnd(read: number, end: EndReached): Promise<void>;
  /** The reading is over: the log does not continue the replica. */
  onBreak(found: LogBreak): void;
  /** The reading is over: the replica must be opened anew. */
  onStoreFailed(error: unknown): void;
}

export interface LogReaderDependencies {
  readonly partition: PartitionId;
  readonly log: SharedLog;
  readonly replica: HostedReplica;
  readonly scheduler: Scheduler;
  readonly listener: LogReaderListener;
}

export class LogReader {
  readonly #dependencies: LogReaderDependencies;
  #wanted: number | undefined;
  #stopper = new AbortController();
  /** Of the reading under way: aborted when a better one is wanted. */
  #turn = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(dependencies: LogReaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Goes on until `stop` or the signal. Call it again only after that. */
  start(signal: AbortSignal): void {
    this.#stopper = new AbortController();
    const stopped = AbortSignal.any([signal, this.#stopper.signal]);
    this.#running = this.#running.then(() => this.#run(stopped));
  }

  /** Resolves when nothing is applied any more. */
  stop(): Promise<void> {
    this.#wanted = undefined;
    this.#stopper.abort(new Error('the reader was stopped'));
    return this.#running;
  }

  /** Effects: `onEnd` is called once everything is applied that the log holds now. A later call replaces an earlier one. */
  readToEnd(read: number): void {
    this.#wanted = read;
    this.#turn.abort(new Error('the end of the log was asked for'));
  }

  async #run(stopped: AbortSignal): Promise<void> {
    for (let goesOn = true; goesOn;) {
      this.#turn = new AbortController();
      const turn = this.#turn.signal;
      try {
        goesOn = await this.#readOn(stopped, turn);
      } catch (error) {
        goesOn = await this.#onFailure(error, { stopped, turn });
      }
    }
  }

  /** False when nothing more is to be read. */
  async #onFailure(
    error: unknown,
    { stopped, turn }: { readonly stopped: AbortSignal; readonly turn: AbortSignal },
  ): Promise<boolean> {
    const { partition, replica, scheduler, listener } = this.#dependencies;
    if (stopped.aborted) return false;
    if (replica.hasFailed) {
      listener.onStoreFailed(error);
      return false;
    }
    if (turn.aborted) return true;
    onReadFailed(partition, error);
    await delay(scheduler, RETRY_MS, stopped).catch(() => undefined);
    return true;
  }

  /** Ends with the turn. False when nothing more is to be read. */
  async #readOn(stopped: AbortSignal, turn: AbortSignal): Promise<boolean> {
    const { log, replica, listener } = this.#dependencies;
    const wanted = this.#wanted;
    const apply = async (record: LogRecord): Promise<void> => {
      await replica.apply(record);
      if (!stopped.aborted) listener.onRecord(replica.position);
    };
    const stopAtEnd = wanted !== undefined;
    const signal = AbortSignal.any([stopped, turn]);
    signal.throwIfAborted();
    const outcome = await log.follow({ from: replica.position, apply, stopAtEnd, signal });
    if (stopped.aborted) return false;
    if (outcome.kind !== 'at-end') {
      listener.onBreak(outcome);
      return false;
    }
    if (wanted === undefined || wanted !== this.#wanted) return true;
    this.#wanted = undefined;
    await listener.onEnd(wanted, outcome);
    return true;
  }
}
