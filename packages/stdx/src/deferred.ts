/** A promise with its two ends in hand. Settling twice is harmless; the first time counts. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #resolve: (value: T) => void = noop;
  #reject: (reason: unknown) => void = noop;
  #settled = false;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get settled(): boolean {
    return this.#settled;
  }

  resolve(value: T): void {
    this.#settled = true;
    this.#resolve(value);
  }

  reject(reason: unknown): void {
    this.#settled = true;
    this.#reject(reason);
  }
}

function noop(): void {
  // Replaced before the constructor returns.
}
