interface StopRequest {
  readonly epoch: bigint;
  readonly resolve: () => void;
}

/** Leaders of later epochs that wait until nothing runs here that was begun in an earlier one. */
export class StopRequests {
  #waiting: StopRequest[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves when `answer` finds that the node is free for the epoch. */
  add(epoch: bigint): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ epoch, resolve });
    });
  }

  /** `led`: the epoch in which the node leads or wants to; undefined: nothing that it began as a leader runs. */
  answer(led: bigint | undefined): void {
    this.#waiting = this.#waiting.filter(({ epoch, resolve }) => {
      const isFree = led === undefined || led >= epoch;
      if (isFree) resolve();
      return !isFree;
    });
  }
}
