/**
 * The lease of this node: taken, renewed, and taken anew after it was lost (SPEC LSE-5, LSE-6). Every tick looks at the clock before
 * anything else, so that a process that stood still learns first what its lease has become.
 *
 * `held` is told after `lost` only when the newest table was read since the lease was taken.
 */

import {
  Lease,
  LEASE_PREFIX,
  leaseTimes,
  type LeaseState,
  type LeaseTimes,
  type MetadataStore,
} from '@engine/metadata';
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';

import { goodbyeFailed, leaseChanged, pauseSeen, renewalFailed } from './events.js';
import { Listeners } from './listeners.js';

/** Standing still for less is not worth a line in the log. */
const PAUSE_TOLD_MS = 1_000;

/** Renewals without an answer so far. More than a store's own deadline holds at the shortest interval of retries. */
const RENEWALS_OPEN_MAX = 64;

export interface OwnLeaseOptions {
  /** Below LEASE_PREFIX. */
  readonly name: string;
  /** One life of this process. */
  readonly holder: string;
  /** At least LEASE_TTL_MS_MIN. */
  readonly ttlMs: number;
}

export interface OwnLeaseDependencies {
  readonly store: MetadataStore;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Before the lease is taken anew: makes sure that this node is still registered. Rejects when it cannot be now. */
  readonly register: () => Promise<unknown>;
  /** Reads the newest table and tells it to all who go by it. */
  readonly readTable: () => Promise<void>;
}

export class OwnLease {
  readonly #options: OwnLeaseOptions;
  readonly #dependencies: OwnLeaseDependencies;
  readonly #times: LeaseTimes;
  readonly #states = new Listeners<LeaseState>();
  readonly #accesses = new Listeners<boolean>();
  #lease: Lease | undefined;
  /** The table was read since the lease was taken. */
  #isOriented = false;
  #told: LeaseState = 'lost';
  #isTaking = false;
  #openRenewals = 0;
  #sentAt = -Infinity;
  /** When the last renewal that succeeded was sent. */
  #renewedAt = -Infinity;
  #tickedAt = -Infinity;
  #timer: Cancellable | undefined;
  #isStopped = false;

  constructor(options: OwnLeaseOptions, dependencies: OwnLeaseDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#times = leaseTimes(options.ttlMs);
  }

  /** As the clock says in this moment. */
  get state(): LeaseState {
    return this.#isOriented && !this.#isStopped ? (this.#lease?.state ?? 'lost') : 'lost';
  }

  /** `listener` hears each change; the first state of all is `lost`. */
  onState(listener: (state: LeaseState) => void): Disposable {
    return this.#states.add(listener);
  }

  /** `listener` hears of each write of the lease whether the store acknowledged it. */
  onAccess(listener: (isGood: boolean) => void): Disposable {
    return this.#accesses.add(listener);
  }

  /** Takes the lease for the first time and keeps it from then on. Rejects with EngineError `unavailable`; then call it again. */
  async take(): Promise<void> {
    await this.#take();
    this.#tickedAt = this.#now();
    this.#later();
    this.check();
  }

  /** Looks at the clock. Effects: listeners hear what has changed. */
  check(): void {
    const { state } = this;
    if (state === this.#told) return;
    this.#told = state;
    leaseChanged(state);
    this.#states.tell(state);
  }

  /** No renewal any more; listeners hear `lost`. The lease stays in the store. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.check();
  }

  /** Frees the lease at once. Call it after `stop`, when nothing runs here any more. Never rejects. */
  async sayGoodbye(): Promise<void> {
    await this.#lease?.release().catch(goodbyeFailed);
  }

  #now(): number {
    return this.#dependencies.clock.monotonic();
  }

  #later(): void {
    if (this.#isStopped) return;
    this.#timer = this.#dependencies.scheduler.after(this.#times.renewalRetryMs, () => {
      this.#tick();
      this.#later();
    });
  }

  #tick(): void {
    this.check();
    const now = this.#now();
    const stoodStillMs = now - this.#tickedAt - this.#times.renewalRetryMs;
    if (stoodStillMs >= PAUSE_TOLD_MS) pauseSeen(stoodStillMs);
    this.#tickedAt = now;
    const lease = this.#lease;
    if (lease === undefined || lease.state === 'lost') {
      void this.#takeAnew();
      return;
    }
    if (!this.#isOriented) void this.#orientAnew();
    const isDue = now - this.#renewedAt >= this.#times.renewalIntervalMs;
    if (isDue && this.#openRenewals < RENEWALS_OPEN_MAX) void this.#renew(lease);
  }

  async #renew(lease: Lease): Promise<void> {
    const now = this.#now();
    if (now - this.#sentAt < this.#times.renewalRetryMs) return;
    this.#sentAt = now;
    this.#openRenewals += 1;
    try {
      const isHeld = await lease.renew();
      if (isHeld && lease === this.#lease) this.#renewedAt = Math.max(this.#renewedAt, now);
      this.#accesses.tell(true);
    } catch (error) {
      renewalFailed(error);
      this.#accesses.tell(false);
    } finally {
      this.#openRenewals -= 1;
    }
    if (lease === this.#lease && lease.state === 'lost') this.#isOriented = false;
    this.check();
  }

  /** One at a time; tried again by the next tick. */
  async #takeAnew(): Promise<void> {
    this.#isOriented = false;
    await this.#alone(async () => {
      await this.#dependencies.register();
      await this.#take();
    });
  }

  async #orientAnew(): Promise<void> {
    await this.#alone(() => this.#orient());
  }

  async #alone(body: () => Promise<void>): Promise<void> {
    if (this.#isTaking) return;
    this.#isTaking = true;
    try {
      await body();
    } catch (error) {
      renewalFailed(error);
      this.#accesses.tell(false);
    } finally {
      this.#isTaking = false;
    }
    this.check();
  }

  /** An earlier life of this node may not have said goodbye: the lease is taken from it. */
  async #take(): Promise<void> {
    const { store, clock } = this.#dependencies;
    const entry = await store.get(LEASE_PREFIX + this.#options.name);
    const sentAt = this.#now();
    const lease = await Lease.take(
      { ...this.#options, expired: entry?.version },
      { store, monotonic: () => clock.monotonic() },
    );
    if (lease === undefined || this.#isStopped) return;
    this.#accesses.tell(true);
    this.#lease = lease;
    this.#renewedAt = sentAt;
    this.#sentAt = sentAt;
    await this.#orient();
  }

  async #orient(): Promise<void> {
    const lease = this.#lease;
    await this.#dependencies.readTable();
    if (lease === this.#lease) this.#isOriented = true;
  }
}
