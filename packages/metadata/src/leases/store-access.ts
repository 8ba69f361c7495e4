/**
 * Whether the own access to the metadata store works. Time in which it did not cannot count against anybody: a lease may have been
 * renewed where we could not see it.
 */

export type AccessKind = 'read' | 'write';

export class StoreAccess {
  readonly #freshMs: number;
  #read = -Infinity;
  #write = -Infinity;
  /** Since when both work without a break. */
  #goodSince: number | undefined;

  /** A success counts for `freshMs`, on a monotonic clock. */
  constructor(freshMs: number) {
    this.#freshMs = freshMs;
  }

  succeeded(kind: AccessKind, now: number): void {
    this.goodSince(now);
    if (kind === 'read') this.#read = now;
    else this.#write = now;
    if (this.#goodSince === undefined && this.#isFresh(now)) this.#goodSince = now;
  }

  failed(): void {
    this.#read = -Infinity;
    this.#write = -Infinity;
    this.#goodSince = undefined;
  }

  /** Undefined while reads or writes do not work. */
  goodSince(now: number): number | undefined {
    if (!this.#isFresh(now)) this.#goodSince = undefined;
    return this.#goodSince;
  }

  #isFresh(now: number): boolean {
    return now - Math.min(this.#read, this.#write) <= this.#freshMs;
  }
}
