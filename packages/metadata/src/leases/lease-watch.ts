/**
 * Leases as an observer sees them: how long since the last change that it saw, on its own monotonic clock, and only while its own reads
 * and writes of the store succeed. Clocks of different machines are never compared.
 *
 * Promises (SPEC LSE-1 to LSE-4): after an outage of the own access everybody has a full TTL again; a goodbye counts at once; refused
 * connections of a dead process count after `refusedForMs`; any change of the lease afterwards takes either back. What it says of a silent
 * holder is an opinion until the holder is buried.
 */

import { leaseTimes, type LeaseTimes } from './lease-times.js';
import { StoreAccess, type AccessKind } from './store-access.js';

/** `unknown`: the own access does not work, so nothing is said; whoever was alive is treated so. */
export type Liveness = 'alive' | 'stale' | 'refused' | 'gone' | 'unknown';

/** A change of a lease. */
export interface LeaseSign {
  readonly revision: bigint;
  /** What the holder says that its lease lasts. */
  readonly ttlMs: number;
}

interface Watched {
  revision: bigint;
  /** The longer ones of the observer's and the holder's. */
  times: LeaseTimes;
  changedAt: number;
  /** Since when connections are refused without a change of the lease. */
  refusedSince: number | undefined;
  /** When the last refusal was. */
  refusedAt: number;
  hasSaidGoodbye: boolean;
}

export class LeaseWatch<Id extends string> {
  readonly #times: LeaseTimes;
  readonly #access: StoreAccess;
  readonly #watched = new Map<Id, Watched>();

  constructor(times: LeaseTimes) {
    this.#times = times;
    this.#access = new StoreAccess(times.accessFreshMs);
  }

  /**
   * The lease of `id` stands at `revision`. Only a revision that was not seen before is a sign of life. A holder with a longer TTL than
   * the observer's is given that, so that one that lets go later is not counted dead before.
   */
  seen(id: Id, { revision, ttlMs }: LeaseSign, now: number): void {
    const known = this.#watched.get(id);
    if (known !== undefined && revision <= known.revision) return;
    this.#watched.set(id, {
      revision,
      times: ttlMs > this.#times.ttlMs ? leaseTimes(ttlMs) : this.#times,
      changedAt: now,
      refusedSince: undefined,
      refusedAt: now,
      hasSaidGoodbye: false,
    });
  }

  /** The holder gave its lease back at `revision`, or was buried: somebody wrote onto the lease that it is counted dead. */
  goodbye(id: Id, revision: bigint, now: number): void {
    this.seen(id, { revision, ttlMs: this.#times.ttlMs }, now);
    const watched = this.#watched.get(id);
    if (watched?.revision === revision) watched.hasSaidGoodbye = true;
  }

  /** Nobody listens where the holder should. A probe that hangs says nothing and is not told here. */
  refused(id: Id, now: number): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    watched.refusedSince ??= now;
    watched.refusedAt = now;
  }

  /** The holder was reached. */
  reached(id: Id): void {
    const watched = this.#watched.get(id);
    if (watched !== undefined) watched.refusedSince = undefined;
  }

  /** Last revision seen; what a burial expects to replace. */
  revisionOf(id: Id): bigint | undefined {
    return this.#watched.get(id)?.revision;
  }

  accessSucceeded(kind: AccessKind, now: number): void {
    this.#access.succeeded(kind, now);
  }

  accessFailed(): void {
    this.#access.failed();
  }

  /** True while the own reads and writes work. */
  isSighted(now: number): boolean {
    return this.#access.goodSince(now) !== undefined;
  }

  /** Somebody who was never seen is `gone`. */
  liveness(id: Id, now: number): Liveness {
    const watched = this.#watched.get(id);
    const goodSince = this.#access.goodSince(now);
    if (goodSince === undefined) return 'unknown';
    if (watched === undefined || watched.hasSaidGoodbye) return 'gone';
    if (this.#isRefused(watched, goodSince)) return 'refused';
    const countedFrom = Math.max(watched.changedAt, goodSince);
    return now - countedFrom >= watched.times.ttlMs ? 'stale' : 'alive';
  }

  /** True when nothing was seen of a lease for so long that its holder may have let go, although it is not yet dead to others. */
  isSuspect(id: Id, now: number): boolean {
    const watched = this.#watched.get(id);
    const goodSince = this.#access.goodSince(now);
    if (watched === undefined || goodSince === undefined) return false;
    return now - Math.max(watched.changedAt, goodSince) >= watched.times.abortAfterMs;
  }

  #isRefused({ refusedSince, refusedAt }: Watched, goodSince: number): boolean {
    if (refusedSince === undefined) return false;
    return refusedAt - Math.max(refusedSince, goodSince) >= this.#times.refusedForMs;
  }
}
