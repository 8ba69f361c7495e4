/**
 * Requests to one partition. Each is either with a leader or parked until there is one: parked because nobody leads, because the
 * way to the leader is broken, or because the worker that was asked said that it does not lead, or not any more.
 *
 * Invariant: a request is in exactly one of `#parked` and `#inFlight` from `take` until it is answered, withdrawn or expired.
 */

import type { PartitionAnswer, PartitionId, PartitionRequest } from '@engine/domain';
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
import type { PartitionChannel, SentRequest } from '@engine/wire';

import { onExpired, onResent } from '../events.js';
import { RESEND_WINDOW_MS_MAX, RETRY_MS_MAX, RETRY_MS_MIN, SETTLED_MS } from '../limits.js';

type Respond = (answer: PartitionAnswer) => void;

export interface LaneDependencies {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Chance in 0 … 1, so that many lanes and nodes do not try in step. */
  readonly chance: () => number;
  /** The way to the leader of this moment; undefined while there is none, or it is broken. */
  readonly leader: (partition: PartitionId) => PartitionChannel | undefined;
  /** The table may be old. */
  readonly refresh: () => void;
  /** How long a request may be parked, in ms, all its parkings since it was last settled with a leader together. */
  readonly waitMsMax: number;
  /** Called when a request begins or ceases to be parked, with +1 or −1. */
  readonly onParked: (change: 1 | -1) => void;
  /** Called once when a request needs its router no more. */
  readonly onOver: () => void;
}

const GIVEN_UP: PartitionAnswer = { kind: 'unavailable', reason: 'disconnected' };

export class Lane {
  readonly #id: PartitionId;
  readonly #dependencies: LaneDependencies;
  readonly #parked = new Set<RoutedRequest>();
  readonly #inFlight = new Set<RoutedRequest>();
  /** To whom what is in flight was sent. */
  #leader: PartitionChannel | undefined;
  #retryMs = RETRY_MS_MIN;
  #retry: Cancellable | undefined;

  constructor(id: PartitionId, dependencies: LaneDependencies) {
    this.#id = id;
    this.#dependencies = dependencies;
  }

  take(request: PartitionRequest, respond: Respond): SentRequest {
    const routed = new RoutedRequest(request, respond, this);
    const leader = this.#retry === undefined ? this.#dependencies.leader(this.#id) : undefined;
    if (leader === undefined) this.#park(routed);
    else this.#dispatch(routed, leader);
    return routed;
  }

  /** The table changed, or a way opened: what waits goes out, and what is with somebody who leads no more comes back. */
  rouse(): void {
    const leader = this.#dependencies.leader(this.#id);
    const hasMoved = leader !== undefined && this.#leader !== undefined && leader !== this.#leader;
    if (hasMoved) {
      this.#forgetRetry();
      for (const routed of [...this.#inFlight]) this.#recall(routed);
    }
    if (leader !== undefined && this.#retry === undefined) this.#resend(leader);
  }

  /** Gives up on those that were parked too long. */
  expire(now: number): void {
    let count = 0;
    for (const routed of this.#parked) {
      if (routed.until > now) continue;
      count += 1;
      this.#unpark(routed);
      this.#finish(routed, GIVEN_UP);
    }
    if (count > 0) onExpired(this.#id, count);
  }

  /** Answers what is parked and what is in flight with `disconnected`. */
  stop(): void {
    this.#forgetRetry();
    for (const routed of [...this.#inFlight]) this.#recall(routed);
    this.expire(Number.POSITIVE_INFINITY);
  }

  /** The caller has left. */
  leave(routed: RoutedRequest): void {
    if (this.#parked.has(routed)) this.#unpark(routed);
    else if (this.#inFlight.delete(routed)) routed.sent?.withdraw();
    else return;
    this.#dependencies.onOver();
  }

  #dispatch(routed: RoutedRequest, leader: PartitionChannel): void {
    this.#leader = leader;
    this.#inFlight.add(routed);
    routed.sentAt = this.#dependencies.clock.monotonic();
    const sent = leader.send(routed.request, (answer) => {
      if (routed.sent !== sent) return;
      this.#answered(routed, answer);
    });
    routed.sent = sent;
  }

  #answered(routed: RoutedRequest, answer: PartitionAnswer): void {
    if (!this.#inFlight.delete(routed)) return;
    routed.sent = undefined;
    if (answer.kind === 'unavailable' && answer.reason !== 'overloaded') {
      this.#park(routed);
      this.#retryLater();
      if (answer.reason !== 'disconnected') this.#dependencies.refresh();
      return;
    }
    this.#retryMs = RETRY_MS_MIN;
    this.#finish(routed, answer);
  }

  #recall(routed: RoutedRequest): void {
    this.#inFlight.delete(routed);
    routed.sent?.withdraw();
    routed.sent = undefined;
    this.#park(routed);
  }

  #park(routed: RoutedRequest): void {
    const now = this.#dependencies.clock.monotonic();
    routed.park(now, this.#dependencies.waitMsMax);
    this.#parked.add(routed);
    this.#dependencies.onParked(1);
  }

  #unpark(routed: RoutedRequest): void {
    routed.unpark(this.#dependencies.clock.monotonic());
    this.#parked.delete(routed);
    this.#dependencies.onParked(-1);
  }

  #resend(leader: PartitionChannel): void {
    if (this.#parked.size === 0) return;
    const parked = [...this.#parked];
    onResent(parked.length);
    for (const routed of parked) {
      this.#unpark(routed);
      this.#dispatch(routed, leader);
    }
  }

  #retryLater(): void {
    if (this.#retry !== undefined) return;
    const waitMs = this.#retryMs * (0.5 + this.#dependencies.chance() / 2);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
    this.#retry = this.#dependencies.scheduler.after(waitMs, () => {
      this.#retry = undefined;
      this.rouse();
    });
  }

  #forgetRetry(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#retryMs = RETRY_MS_MIN;
  }

  #finish(routed: RoutedRequest, answer: PartitionAnswer): void {
    this.#dependencies.onOver();
    routed.respond(answer);
  }
}

export class RoutedRequest implements SentRequest {
  readonly request: PartitionRequest;
  readonly respond: Respond;
  readonly #lane: Lane;
  sent: SentRequest | undefined;
  /** Monotonic, ms. Undefined before it was with a leader. */
  sentAt: number | undefined;
  /** While it is parked: when it is given up. Monotonic, ms. */
  until = 0;
  #parkedAt = 0;
  /** Time parked since it was last settled. */
  #waitedMs = 0;
  /** After this a repeat might have a second effect. Monotonic, ms; undefined before it was parked. */
  #resendUntil: number | undefined;

  constructor(request: PartitionRequest, respond: Respond, lane: Lane) {
    this.request = request;
    this.respond = respond;
    this.#lane = lane;
  }

  withdraw(): void {
    this.#lane.leave(this);
  }

  /** Only the time without a leader counts against the wait: the time with one that moves on soon does not. */
  park(now: number, waitMsMax: number): void {
    const wasSettled = this.sentAt !== undefined && now - this.sentAt > SETTLED_MS;
    if (wasSettled || this.#resendUntil === undefined) {
      this.#waitedMs = 0;
      this.#resendUntil = now + RESEND_WINDOW_MS_MAX;
    }
    this.#parkedAt = now;
    this.until = Math.min(now + waitMsMax - this.#waitedMs, this.#resendUntil);
  }

  unpark(now: number): void {
    this.#waitedMs += now - this.#parkedAt;
  }
}
