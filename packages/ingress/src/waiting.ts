/**
 * Who waits for which answer. Requests are numbered, bounded, and sent again under the same id while their partition moves,
 * so that callers see latency and not an error. Nothing here is durable: a lost process loses only the waiting.
 */

import type { PartitionAnswer, PartitionRequest } from '@engine/domain';
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
import type { PartitionChannel } from '@engine/wire';
import {
  RESEND_PAUSE_MS,
  RESEND_PAUSE_MS_MAX,
  RESEND_WINDOW_MS,
  WAITING_ANSWERS_MAX,
} from './limits.js';
import { log } from './logger.js';

export type OnAnswer = (answer: PartitionAnswer) => void;

interface Resend {
  readonly until: number;
  readonly pauseMs: number;
}

const OVERLOADED: PartitionAnswer = { kind: 'unavailable', reason: 'overloaded' };
const STOPPING: PartitionAnswer = { kind: 'unavailable', reason: 'stopping' };

export class Waiting {
  readonly #channel: PartitionChannel;
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #resends = new Map<Cancellable, OnAnswer>();
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

  /** Sends the request. `onAnswer` runs once, perhaps before this returns; what it throws is logged and goes no further. */
  send(request: PartitionRequest, onAnswer: OnAnswer): void {
    if (this.#count >= WAITING_ANSWERS_MAX) {
      deliver(onAnswer, OVERLOADED);
      return;
    }
    this.#count += 1;
    this.#send(request, onAnswer, undefined);
  }

  /** Gives up on requests whose partition is away. Those that a partition has taken keep waiting for its answer. */
  stop(): void {
    this.#isStopping = true;
    for (const [timer, onAnswer] of this.#resends) {
      timer.cancel();
      this.#settle(onAnswer, STOPPING);
    }
    this.#resends.clear();
  }

  #send(request: PartitionRequest, onAnswer: OnAnswer, resend: Resend | undefined): void {
    this.#channel.send(request, (answer) => {
      if (answer.kind === 'unavailable' && answer.reason === 'stopping') {
        this.#sendLater(request, onAnswer, resend);
      } else {
        this.#settle(onAnswer, answer);
      }
    });
  }

  #sendLater(request: PartitionRequest, onAnswer: OnAnswer, last: Resend | undefined): void {
    const now = this.#clock.monotonic();
    const until = last?.until ?? now + RESEND_WINDOW_MS;
    if (this.#isStopping || now >= until) {
      this.#settle(onAnswer, STOPPING);
      return;
    }
    const pauseMs = last?.pauseMs ?? RESEND_PAUSE_MS;
    const timer = this.#scheduler.after(pauseMs, () => {
      this.#resends.delete(timer);
      const next = { until, pauseMs: Math.min(pauseMs * 2, RESEND_PAUSE_MS_MAX) };
      this.#send(request, onAnswer, next);
    });
    this.#resends.set(timer, onAnswer);
  }

  #settle(onAnswer: OnAnswer, answer: PartitionAnswer): void {
    this.#count -= 1;
    deliver(onAnswer, answer);
  }
}

// The channel calls from inside a partition, which must not stumble over a broken connection.
function deliver(onAnswer: OnAnswer, answer: PartitionAnswer): void {
  try {
    onAnswer(answer);
  } catch (err) {
    log.error({ err }, 'an answer could not be delivered');
  }
}
