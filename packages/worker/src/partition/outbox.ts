/**
 * Messages to other partitions: in order per destination, sent again until the receiver says that they are durable.
 *
 * Promises: every message of the outbox reaches its destination at least once and in order, as the receiver sees it. It leans on
 * the store: rows stand there until they are truncated, so memory holds only what was sent recently.
 *
 * Invariant per destination: acknowledged < `nextSend` ≤ `end`, and all messages below `end` are durable.
 */

import type { PartitionId, PartitionMessage } from '@engine/domain';
import type { Cancellable, Scheduler } from '@engine/runtime';
import type { StateReader } from '@engine/storage';

import type { CommandSink } from './command-queue.js';

/** Messages that one batch carries. */
const BATCH_LENGTH_MAX = 256;

/** Messages to one destination that are sent and not acknowledged; the rest waits in the store. */
export const UNACKNOWLEDGED_MAX = 4_096;

/** First and longest wait before what is not acknowledged is sent again; it doubles in between. */
const RESEND_MS_MIN = 200;
const RESEND_MS_MAX = 10_000;

/** Acknowledged rows are removed together after this time, so that truncation costs a fraction of a record per message. */
const TRUNCATE_MS = 20;

/** Sends messages numbered `first`, `first + 1`, … to a partition. They may get lost, come twice or late. */
export type Deliver = (batch: {
  readonly destination: PartitionId;
  readonly first: number;
  readonly messages: readonly PartitionMessage[];
}) => void;

export interface OutboxDependencies {
  readonly state: Pick<StateReader, 'outboxMessage' | 'outboxCursor'>;
  readonly scheduler: Scheduler;
  readonly sink: CommandSink;
  readonly deliver: Deliver;
}

interface Destination {
  readonly id: PartitionId;
  /** Messages above `acknowledged`, at most UNACKNOWLEDGED_MAX; those that are not here are read from the store. */
  readonly recent: Map<number, PartitionMessage>;
  acknowledged: number;
  nextSend: number;
  /** One past the last durable message. */
  end: number;
  /** Up to where truncation was asked for. */
  truncated: number;
  /** The acknowledgement at which the last going back happened: one gap makes the sender go back once, then the timer does. */
  wentBackAt: number | undefined;
  resendMs: number;
  /** Set by progress since the resend timer last looked. */
  hasProgressed: boolean;
}

export class Outbox {
  readonly #dependencies: OutboxDependencies;
  readonly #destinations = new Map<PartitionId, Destination>();
  readonly #toFlush = new Set<Destination>();
  #resendTimer: Cancellable | undefined;
  #truncateTimer: Cancellable | undefined;
  #isStopped = false;

  constructor(dependencies: OutboxDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes up the messages that the store still holds for a destination. */
  recover(id: PartitionId): void {
    const cursor = this.#dependencies.state.outboxCursor(id);
    if (cursor === undefined || cursor.first === cursor.next) return;
    const destination = this.#destination(id, cursor.first);
    destination.end = cursor.next;
    this.#toFlush.add(destination);
  }

  /** A message became durable. It leaves with the next `flush`. */
  add(id: PartitionId, sequence: number, message: PartitionMessage): void {
    const destination = this.#destination(id, sequence);
    destination.end = sequence + 1;
    if (destination.recent.size < UNACKNOWLEDGED_MAX) destination.recent.set(sequence, message);
    this.#toFlush.add(destination);
  }

  /** Sends what was added since the last time. */
  flush(): void {
    if (this.#toFlush.size === 0) return;
    const destinations = [...this.#toFlush];
    this.#toFlush.clear();
    for (const destination of destinations) this.#send(destination);
  }

  /** The receiver has applied everything up to `upTo`; without progress it asks for what follows `upTo`. */
  acknowledged(id: PartitionId, upTo: number): void {
    const destination = this.#destinations.get(id);
    if (destination === undefined || this.#isStopped) return;
    if (upTo > destination.acknowledged) {
      this.#advance(destination, Math.min(upTo, destination.end - 1));
    } else if (upTo === destination.acknowledged && destination.wentBackAt !== upTo) {
      destination.wentBackAt = upTo;
      destination.nextSend = upTo + 1;
    } else {
      return;
    }
    this.#send(destination);
  }

  stop(): void {
    this.#isStopped = true;
    this.#resendTimer?.cancel();
    this.#truncateTimer?.cancel();
  }

  #destination(id: PartitionId, first: number): Destination {
    const known = this.#destinations.get(id);
    if (known !== undefined) return known;
    const destination: Destination = {
      id,
      recent: new Map(),
      acknowledged: first - 1,
      nextSend: first,
      end: first,
      truncated: first - 1,
      wentBackAt: undefined,
      resendMs: RESEND_MS_MIN,
      hasProgressed: false,
    };
    this.#destinations.set(id, destination);
    return destination;
  }

  #advance(destination: Destination, upTo: number): void {
    for (let sequence = destination.acknowledged + 1; sequence <= upTo; sequence += 1) {
      destination.recent.delete(sequence);
    }
    destination.acknowledged = upTo;
    destination.nextSend = Math.max(destination.nextSend, upTo + 1);
    destination.wentBackAt = undefined;
    destination.hasProgressed = true;
    destination.resendMs = RESEND_MS_MIN;
    this.#truncateTimer ??= this.#dependencies.scheduler.after(TRUNCATE_MS, this.#truncate);
  }

  #send(destination: Destination): void {
    if (this.#isStopped) return;
    const sendEnd = Math.min(destination.end, destination.acknowledged + 1 + UNACKNOWLEDGED_MAX);
    while (destination.nextSend < sendEnd) {
      const first = destination.nextSend;
      const messages = this.#read(destination, first, Math.min(sendEnd, first + BATCH_LENGTH_MAX));
      if (messages.length === 0) break;
      destination.nextSend = first + messages.length;
      this.#dependencies.deliver({ destination: destination.id, first, messages });
    }
    const isWaiting = destination.acknowledged + 1 < destination.end;
    if (isWaiting && this.#resendTimer === undefined) this.#armResend(RESEND_MS_MIN);
  }

  #armResend(delayMs: number): void {
    this.#resendTimer?.cancel();
    this.#resendTimer = this.#dependencies.scheduler.after(delayMs, this.#resend);
  }

  #read(destination: Destination, from: number, to: number): PartitionMessage[] {
    const messages: PartitionMessage[] = [];
    for (let sequence = from; sequence < to; sequence += 1) {
      const message =
        destination.recent.get(sequence) ??
        this.#dependencies.state.outboxMessage(destination.id, sequence);
      if (message === undefined) break;
      messages.push(message);
    }
    return messages;
  }

  readonly #resend = (): void => {
    this.#resendTimer = undefined;
    let waitMs = Number.POSITIVE_INFINITY;
    for (const destination of this.#destinations.values()) {
      if (destination.acknowledged + 1 >= destination.end) continue;
      if (!destination.hasProgressed) {
        destination.nextSend = destination.acknowledged + 1;
        destination.resendMs = Math.min(destination.resendMs * 2, RESEND_MS_MAX);
        this.#send(destination);
      }
      destination.hasProgressed = false;
      waitMs = Math.min(waitMs, destination.resendMs);
    }
    if (Number.isFinite(waitMs)) this.#armResend(waitMs);
  };

  readonly #truncate = (): void => {
    this.#truncateTimer = undefined;
    for (const destination of this.#destinations.values()) {
      if (destination.truncated === destination.acknowledged) continue;
      destination.truncated = destination.acknowledged;
      const upTo = destination.acknowledged;
      const { id } = destination;
      this.#dependencies.sink.submit({
        kind: 'MessagesAcknowledged',
        at: 0,
        destination: id,
        upTo,
      });
    }
  };
}
