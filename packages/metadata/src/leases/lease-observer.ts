/**
 * Watches leases, one round at a time: reads them for a `LeaseWatch`, which knows the rules. The caller says when: about every fifth of
 * a TTL; rounds further apart than `accessFreshMs` are an outage of the observer.
 */

import type { MetadataStore } from '../metadata-store.js';
import { decodeLease, LEASE_PREFIX } from './lease-document.js';
import type { LeaseTimes } from './lease-times.js';
import { LeaseWatch, type Liveness } from './lease-watch.js';

export interface ObservedLease {
  /** Below `lease/`. */
  readonly name: string;
  readonly holder: string;
  readonly note: string;
  readonly version: bigint;
  readonly liveness: Liveness;
}

export interface LeaseObserverDependencies {
  readonly store: MetadataStore;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** A write of this process to the same store, such as the renewal of its own lease. Rejects when it was not acknowledged. */
  readonly write: () => Promise<unknown>;
}

export class LeaseObserver {
  readonly #prefix: string;
  readonly #dependencies: LeaseObserverDependencies;
  readonly #watch: LeaseWatch<string>;
  #shown: readonly Omit<ObservedLease, 'liveness'>[] = [];
  #askedAt = -Infinity;

  /** `prefix`: below `lease/`, such as `node/`. `times`: of the observer; a holder that says a longer TTL has that. */
  constructor(
    { prefix, times }: { readonly prefix: string; readonly times: LeaseTimes },
    dependencies: LeaseObserverDependencies,
  ) {
    this.#prefix = LEASE_PREFIX + prefix;
    this.#dependencies = dependencies;
    this.#watch = new LeaseWatch(times);
  }

  /** What the last round that succeeded showed; all `unknown` after one that failed, or when it is too long ago. */
  get leases(): readonly ObservedLease[] {
    const isSighted = this.#watch.isSighted(this.#dependencies.monotonic());
    return this.#shown.map((lease) => ({
      ...lease,
      // A reading says nothing of the time after it was asked for.
      liveness: isSighted ? this.#watch.liveness(lease.name, this.#askedAt) : 'unknown',
    }));
  }

  /** One round. Rejects with what kept the store from being written or read; then nothing has aged. One at a time. */
  async round(): Promise<void> {
    const { store, monotonic, write } = this.#dependencies;
    try {
      await write();
      const askedAt = monotonic();
      const entries = await store.list(this.#prefix);
      const now = monotonic();
      this.#shown = entries.map(({ name: path, version, value }) => {
        const { holder, note, ttlMs, isGone } = decodeLease(value);
        const name = path.slice(LEASE_PREFIX.length);
        if (isGone) this.#watch.goodbye(name, version, now);
        else this.#watch.seen(name, { revision: version, ttlMs }, now);
        return { name, version, holder, note };
      });
      this.#askedAt = askedAt;
      this.#watch.accessSucceeded('write', askedAt);
      this.#watch.accessSucceeded('read', now);
    } catch (error) {
      this.#watch.accessFailed();
      throw error;
    }
  }
}
