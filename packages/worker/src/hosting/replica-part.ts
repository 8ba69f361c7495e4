/** The replica of a partition and the log that it follows: opened, read and opened again as the leadership asks; it tells what came of it. */

import type { LeadershipInput } from '@engine/cluster';
import type { PartitionId } from '@engine/domain';
import { LOG_START, type LogBreak, type LogPosition } from '@engine/log';

import { onLogBroken, onStoreFailed } from '../events.js';
import type { Handover } from './handover.js';
import type { OpenLog } from './leader-seat.js';
import { HostedReplica } from './hosted-replica.js';
import { LogReader, type EndReached, type LogReaderListener } from './log-reader.js';
import { ReplicaOpener, type Opened, type ReplicaOpenerDependencies } from './replica-opener.js';

export interface ReplicaPartDependencies extends ReplicaOpenerDependencies {
  readonly handover: Handover;
  readonly tell: (input: LeadershipInput) => void;
}

interface Open extends OpenLog {
  readonly reader: LogReader;
}

export class ReplicaPart implements LogReaderListener {
  readonly #partition: PartitionId;
  readonly #dependencies: ReplicaPartDependencies;
  readonly #opener: ReplicaOpener;
  #open: Open | undefined;
  /** The opening under way, or the last one: one at a time works on the store. */
  #opening: Promise<void> | undefined;

  constructor(dependencies: ReplicaPartDependencies) {
    this.#partition = dependencies.partition;
    this.#dependencies = dependencies;
    this.#opener = new ReplicaOpener(dependencies);
  }

  /** True from the first opening on. */
  get isBegun(): boolean {
    return this.#opening !== undefined;
  }

  /** Where the replica stands; undefined while none is open. */
  get position(): LogPosition | undefined {
    return this.#open?.replica.position;
  }

  get open(): OpenLog | undefined {
    return this.#open;
  }

  /** Effects: tells `opened`, unless the signal is first. What was open before is used no more. */
  reopen(how: 'reopen' | 'restore', signal: AbortSignal): void {
    const [before, left] = [this.#opening, this.#open];
    this.#open = undefined;
    this.#opening = (async () => {
      await before;
      await left?.replica.close();
      const opened = await this.#opener.open(how, signal).catch(() => undefined);
      if (opened !== undefined && !signal.aborted) this.#onOpened(opened);
    })();
  }

  /** Effects: tells `records-read` until the signal or `stopReading`. */
  follow(signal: AbortSignal): void {
    this.#open?.reader.start(signal);
  }

  /** Effects: tells `end-reached`, as long as it follows. */
  readToEnd(read: number): void {
    this.#open?.reader.readToEnd(read);
  }

  /** Resolves when nothing is applied any more by reading. */
  async stopReading(): Promise<void> {
    await this.#open?.reader.stop();
  }

  /** Call it after the signal of the last opening. Resolves when the store is not used any more. */
  async close(): Promise<void> {
    await this.#open?.replica.close();
    await this.#opening;
  }

  onRecord(position: LogPosition): void {
    this.#dependencies.tell({ kind: 'records-read', position });
  }

  async onEnd(read: number, { position, clockOffMs }: EndReached): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#prove(open);
    const tail = await this.#dependencies.handover.tail(position, open.replica);
    if (open !== this.#open) return;
    this.#dependencies.tell({ kind: 'end-reached', read, tail, clockSkewMs: clockOffMs });
  }

  onBreak(found: LogBreak): void {
    onLogBroken(this.#partition, found);
    const fault = found.kind === 'ahead' ? 'ahead' : 'other-branch';
    const { tell } = this.#dependencies;
    if (found.kind === 'trimmed') tell({ kind: 'log-trimmed' });
    else tell({ kind: 'log-broken', fault });
  }

  onStoreFailed(error: unknown): void {
    onStoreFailed(this.#partition, error);
    this.#dependencies.tell({ kind: 'store-failed' });
  }

  /** Not before what was read is written: a disk that takes nothing any more lets records be applied all the same. */
  #prove({ replica }: Open): void {
    replica.written().then(
      () => {
        this.#opener.proven();
      },
      () => undefined,
    );
  }

  #onOpened(opened: Opened): void {
    const { scheduler, tell } = this.#dependencies;
    if (opened.kind !== 'opened') {
      const verdict = opened.kind === 'format' ? 'format' : 'trimmed';
      tell({ kind: 'opened', verdict, position: LOG_START });
      return;
    }
    const { log } = opened;
    const replica = new HostedReplica(opened.replica, (error) => {
      this.onStoreFailed(error);
    });
    const partition = this.#partition;
    const reader = new LogReader({ partition, log, replica, scheduler, listener: this });
    this.#open = { log, replica, reader };
    tell({ kind: 'opened', verdict: 'continues', position: replica.position });
  }
}
