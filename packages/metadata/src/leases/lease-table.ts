/**
 * Which leases an observer counts as alive. Pure: rounds and failures in, states out, times of the observer's own monotonic clock.
 *
 * A round is a write of the observer that was acknowledged, and after it a reading of all leases. A lease has expired when a reading
 * that was asked for a whole TTL after its last change still shows that change, and every round in between was a good one. After a
 * round that failed, or a longer pause of the observer itself, everyone gets a full TTL again: who could not be heard is not dead.
 */

export type LeaseState = 'alive' | 'expired' | 'gone';

export interface ObservedLease {
  /** Without the prefix of leases. */
  readonly name: string;
  readonly holder: string;
  readonly note: string;
  readonly version: bigint;
  readonly state: LeaseState;
}

/** What one reading shows of a lease. */
export interface SeenLease {
  readonly name: string;
  readonly holder: string;
  readonly note: string;
  readonly version: bigint;
  readonly ttlMs: number;
  readonly isGone: boolean;
}

export interface Round {
  /** When the reading was asked for, after the write was acknowledged. */
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly leases: readonly SeenLease[];
}

interface Row {
  readonly lease: SeenLease;
  /** When the present version was first seen, or the last pause ended. */
  since: number;
  state: LeaseState;
}

export class LeaseTable {
  readonly #pauseMsMax: number;
  #rows = new Map<string, Row>();
  #lastRoundAt: number | undefined;

  /** `pauseMsMax`: rounds that are further apart do not prove that the leases could be heard in between. */
  constructor(pauseMsMax: number) {
    this.#pauseMsMax = pauseMsMax;
  }

  /** The last good round: what it showed, by name. Expired leases stay so until they change. */
  get leases(): readonly ObservedLease[] {
    return [...this.#rows.values()].map(({ lease, state }) => {
      const { name, holder, note, version } = lease;
      return { name, holder, note, version, state };
    });
  }

  round({ askedAt, answeredAt, leases }: Round): void {
    const isGapless =
      this.#lastRoundAt !== undefined && answeredAt - this.#lastRoundAt <= this.#pauseMsMax;
    this.#lastRoundAt = answeredAt;
    const rows = new Map<string, Row>();
    for (const lease of leases) {
      const known = this.#rows.get(lease.name);
      const isUnchanged = known?.lease.version === lease.version;
      const row =
        isUnchanged && isGapless
          ? known
          : { lease, since: answeredAt, state: 'alive' as LeaseState };
      if (isUnchanged && known.state === 'expired') row.state = 'expired';
      else if (lease.isGone) row.state = 'gone';
      else if (askedAt - row.since >= lease.ttlMs) row.state = 'expired';
      rows.set(lease.name, row);
    }
    this.#rows = rows;
  }

  /** A round failed: the store could not be reached. */
  failed(): void {
    this.#lastRoundAt = undefined;
  }
}
