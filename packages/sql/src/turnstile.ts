import { EngineError } from '@engine/domain';
import { BoundedQueue } from '@engine/stdx';

/** Lets one through at a time, in order of arrival; refuses when too many wait. */
export class Turnstile {
  readonly #waiting: BoundedQueue<() => void>;
  #isTaken = false;

  constructor(waitingMax: number) {
    this.#waiting = new BoundedQueue(waitingMax);
  }

  /** Resolves when it is the caller's turn, with the function that ends it. Errors: `overloaded`. */
  async enter(): Promise<() => void> {
    if (this.#isTaken) {
      const turn = new Promise<void>((resolve) => {
        if (!this.#waiting.push(resolve)) {
          throw new EngineError('overloaded', 'too many queries are waiting');
        }
      });
      await turn;
    }
    this.#isTaken = true;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#isTaken = false;
      else next();
    };
  }
}
