/** Appends one message after the other to a stream: performs the steps of `Append`. Holds one timer and one try at most. */

import type { LogHealth } from '@engine/log';
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
import { assert } from '@engine/stdx';

import { Append, type AppendOutcome, type AppendStep, type ReadResult } from './append.js';
import type { AppendAnswer, LogStream } from './log-stream.js';

export interface AppenderDependencies {
  readonly stream: LogStream;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Told of each change. */
  readonly onHealth: (health: LogHealth) => void;
}

interface Flight {
  readonly append: Append;
  readonly payload: Uint8Array;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly forgets: (() => void)[];
}

export class StreamAppender {
  readonly #dependencies: AppenderDependencies;
  readonly #reconnects: Disposable;
  #last: number;
  #flight: Flight | undefined;
  #timer: Cancellable | undefined;
  #isHealthy = true;

  /** `last`: sequence of the stream's last message, as the caller read it. */
  constructor(last: number, dependencies: AppenderDependencies) {
    this.#last = last;
    this.#dependencies = dependencies;
    this.#reconnects = dependencies.stream.onReconnect(() => {
      this.#event((append, now) => append.reconnected(now));
    });
  }

  /** Resolves once the fate of the message is known, which may be never. One at a time. */
  append(payload: Uint8Array): Promise<AppendOutcome> {
    assert(this.#flight === undefined, 'one message is in flight at most');
    return new Promise((resolve) => {
      const append = new Append(payload, this.#last, this.#dependencies.clock.monotonic());
      this.#flight = { append, payload, resolve, forgets: [] };
      this.#perform(append.begin());
    });
  }

  /** Sends nothing any more. What is in flight stays open for ever. */
  stop(): void {
    this.#land();
    this.#reconnects[Symbol.dispose]();
  }

  #event(step: (append: Append, now: number) => readonly AppendStep[]): void {
    if (this.#flight === undefined) return;
    this.#perform(step(this.#flight.append, this.#dependencies.clock.monotonic()));
  }

  #perform(steps: readonly AppendStep[]): void {
    for (const step of steps) {
      switch (step.kind) {
        case 'publish':
          this.#publish();
          break;
        case 'read':
          this.#read();
          break;
        case 'wait':
          this.#timer?.cancel();
          this.#timer = this.#dependencies.scheduler.after(step.ms, this.#onElapsed);
          break;
        case 'report':
          this.#isHealthy = false;
          this.#dependencies.onHealth(step.health);
          break;
        case 'settle':
          this.#settle(step.outcome);
          return;
      }
    }
  }

  readonly #onElapsed = (): void => {
    this.#event((append, now) => append.elapsed(now));
  };

  #publish(): void {
    const flight = this.#flight;
    if (flight === undefined) return;
    const onAnswer = (answer: AppendAnswer): void => {
      if (this.#flight === flight) this.#event((append, now) => append.answered(answer, now));
    };
    const { payload } = flight;
    const forget = this.#dependencies.stream.publish({
      payload,
      expectedLast: this.#last,
      onAnswer,
    });
    flight.forgets.push(forget);
  }

  #read(): void {
    const flight = this.#flight;
    const done = (result: ReadResult): void => {
      if (this.#flight === flight) this.#event((append, now) => append.read(result, now));
    };
    this.#dependencies.stream.get(this.#last + 1).then(
      (message) => {
        done(message?.payload ?? 'absent');
      },
      () => {
        done('failed');
      },
    );
  }

  #settle(outcome: AppendOutcome): void {
    const resolve = this.#flight?.resolve;
    this.#land();
    if (outcome.kind === 'landed') {
      this.#last += 1;
      if (!this.#isHealthy) {
        this.#isHealthy = true;
        this.#dependencies.onHealth({ kind: 'ok' });
      }
    }
    resolve?.(outcome);
  }

  #land(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const forget of this.#flight?.forgets ?? []) forget();
    this.#flight = undefined;
  }
}
