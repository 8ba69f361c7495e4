/** Memory for the bodies of requests in progress: each is held from its first byte until its answer has gone. */

/** Smaller bodies are not counted: the number of requests bounds them. */
export const SMALL_BODY_BYTES_MAX = 64 * 1024;

export class BodyBudget {
  readonly #bytesMax: number;
  #usedBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** `held`: what the same body took before. False when there is no room; a body that is alone always has room. */
  take(bytes: number, held: number): boolean {
    if (this.#usedBytes > held && this.#usedBytes + bytes > this.#bytesMax) return false;
    this.#usedBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
