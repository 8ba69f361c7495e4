/**
 * Who waits for which answer. Requests are numbered, bounded, and sent again under the same id while their partition moves,
 * so that callers see latency and not an error. Nothing here is durable: a lost process loses only the waiting.
 */

import type { PartitionAnswer, PartitionRequest, UnavailableReason } from '@engine/domain';
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
import type { PartitionChannel, SentRequest } from '@engine/wire';
import {
  RESEND_PAUSE_MS,
  RESEND_PAUSE_MS_MAX,
  RESEND_WINDOW_MS,
  WAITING_ANSWERS_MAX,
} from './limits.js';
import { log } from './logger.js';

export type OnAnswer = (answer: PartitionAnswer) => void;

const OVERLOADED: PartitionAnswer = { kind: 'unavailable', reason: 'overloaded' };
const STOPPING: PartitionAnswer = { kind: 'unavailable', reason: 'stopping' };

/** Nobody waits any more: answered, refused or left. */
const OVER: SentRequest = { withdraw: () => undefined };

export class Waiting {
  readonly #channel: PartitionChannel;
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #parked = new Set<WaitingCaller>();
  #count = 0;
  #isStopping = false;

  constructor(dependencies: {
    readonly channel: PartitionChannel;
    readonly clock: Clock;
    readonly scheduler: Scheduler;
  }) {
    this.#channel = dependencies.channel;
    this.#clock = dependencies.clock;
    this.#scheduler = dependencies.scheduler;
  }

  /** Requests without an answer so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Sends the request. `onAnswer` runs once, perhaps before this returns, unless the caller withdraws before; what it throws is
   * logged and goes no further.
   */
  send(request: PartitionRequest, onAnswer: OnAnswer): SentRequest {
    if (this.#count >= WAITING_ANSWERS_MAX) {
      deliver(onAnswer, OVERLOADED);
      return OVER;
    }
    this.#count += 1;
    const caller = new WaitingCaller(request, onAnswer, this);
    this.#send(caller);
    return caller;
  }

  /** The caller is gone: its request, if it has left, goes on without it. */
  leave(caller: WaitingCaller): void {
    if (caller.isOver) return;
    caller.isOver = true;
    this.#count -= 1;
    this.#parked.delete(caller);
    caller.timer?.cancel();
    caller.sent?.withdraw();
  }

  /** Gives up on requests whose partition is away. Those that a partition has taken keep waiting for its answer. */
  stop(): void {
    this.#isStopping = true;
    for (const caller of this.#parked) {
      caller.timer?.cancel();
      this.#settle(caller, STOPPING);
    }
    this.#parked.clear();
  }

  #send(caller: WaitingCaller): void {
    caller.sent = this.#channel.send(caller.request, (answer) => {
      caller.sent = undefined;
      if (answer.kind === 'unavailable' && isPassing(answer.reason)) this.#sendLater(caller);
      else this.#settle(caller, answer);
    });
  }

  #sendLater(caller: WaitingCaller): void {
    const now = this.#clock.monotonic();
    caller.until ??= now + RESEND_WINDOW_MS;
    if (this.#isStopping || now >= caller.until) {
      this.#settle(caller, STOPPING);
      return;
    }
    const { pauseMs } = caller;
    caller.pauseMs = Math.min(pauseMs * 2, RESEND_PAUSE_MS_MAX);
    this.#parked.add(caller);
    caller.timer = this.#scheduler.after(pauseMs, () => {
      this.#parked.delete(caller);
      this.#send(caller);
    });
  }

  #settle(caller: WaitingCaller, answer: PartitionAnswer): void {
    if (caller.isOver) return;
    caller.isOver = true;
    this.#count -= 1;
    deliver(caller.onAnswer, answer);
  }
}

class WaitingCaller implements SentRequest {
  readonly request: PartitionRequest;
  readonly onAnswer: OnAnswer;
  readonly #waiting: Waiting;
  sent: SentRequest | undefined;
  timer: Cancellable | undefined;
  /** Monotonic, ms; until then it is sent again. Undefined before its partition was away. */
  until: number | undefined;
  pauseMs = RESEND_PAUSE_MS;
  isOver = false;

  constructor(request: PartitionRequest, onAnswer: OnAnswer, waiting: Waiting) {
    this.request = request;
    this.onAnswer = onAnswer;
    this.#waiting = waiting;
  }

  withdraw(): void {
    this.#waiting.leave(this);
  }
}

/** What a channel answers while a partition moves. One that finds the leader by itself answers `disconnected` when it gave up. */
function isPassing(reason: UnavailableReason): boolean {
  return reason === 'stopping' || reason === 'not-leader';
}

// The channel calls from inside a partition, which must not stumble over a broken connection.
function deliver(onAnswer: OnAnswer, answer: PartitionAnswer): void {
  try {
    onAnswer(answer);
  } catch (err) {
    log.error({ err }, 'an answer could not be delivered');
  }
}
