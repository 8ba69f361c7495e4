/** Watches leases, one round at a time: performs what `LeaseTable` asks of a round. The caller says when; about every fifth of a TTL. */

import type { MetadataStore } from '../metadata-store.js';
import { decodeLease, LEASE_PREFIX } from './lease-document.js';
import { LeaseTable, type ObservedLease } from './lease-table.js';

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
  readonly #table: LeaseTable;

  /** `prefix`: below `lease/`, such as `node/`. `pauseMsMax`: a longer time between two rounds gives everyone a full TTL again. */
  constructor(
    { prefix, pauseMsMax }: { readonly prefix: string; readonly pauseMsMax: number },
    dependencies: LeaseObserverDependencies,
  ) {
    this.#prefix = LEASE_PREFIX + prefix;
    this.#dependencies = dependencies;
    this.#table = new LeaseTable(pauseMsMax);
  }

  /** As of the last round that succeeded. */
  get leases(): readonly ObservedLease[] {
    return this.#table.leases;
  }

  /** One round. Rejects with what kept the store from being written or read; then nothing has aged. One at a time. */
  async round(): Promise<void> {
    const { store, monotonic, write } = this.#dependencies;
    try {
      await write();
      const askedAt = monotonic();
      const entries = await store.list(this.#prefix);
      const leases = entries.map(({ name, version, value }) => {
        const { holder, note, ttlMs, isGone } = decodeLease(value);
        return { name: name.slice(LEASE_PREFIX.length), version, holder, note, ttlMs, isGone };
      });
      this.#table.round({ askedAt, answeredAt: monotonic(), leases });
    } catch (error) {
      this.#table.failed();
      throw error;
    }
  }
}
