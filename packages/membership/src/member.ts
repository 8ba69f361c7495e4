/**
 * This process as a node of the cluster: its document, its lease, and how it goes. Whoever disposes it says goodbye for it, once nothing
 * runs here any more that a successor might run, too; a process that is killed says nothing.
 */

import { isEngineError, type EngineError, type NodeAddresses, type NodeId } from '@engine/domain';
import { nodeLease, type LeaseState, type MetadataStore } from '@engine/metadata';
import { delay, type Clock, type Scheduler, type Service } from '@engine/runtime';

import type { ClusterView } from './cluster-view.js';
import { untilLetGo, untilMayGo, type LeaveOutcome } from './departure.js';
import {
  goodbyeFailed,
  leaveBegun,
  leaveEnded,
  registered,
  registrationDelayed,
} from './events.js';
import { requireReadableFormat } from './format-in-force.js';
import { Listeners } from './listeners.js';
import { OwnLease } from './own-lease.js';
import { Registration, type NodeDescription } from './registration.js';

/** Wait before registering is tried again. */
const REGISTRATION_RETRY_MS = 500;

/** A store that does not answer for so long makes the start fail. */
const REGISTRATION_PATIENCE_MS = 60_000;

/** A node that ends waits so long for its attempts to be let go, then for its goodbye to be acknowledged. */
const GOODBYE_PATIENCE_MS = 5_000;

export interface MemberOptions extends Omit<NodeDescription, 'addresses'> {
  /** At least LEASE_TTL_MS_MIN. */
  readonly leaseTtlMs: number;
}

export interface MemberDependencies {
  readonly store: MetadataStore;
  /** Started, and disposed after the member. */
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Where the others reach this node; asked when it starts, after its ports are bound. */
  readonly addresses: () => NodeAddresses;
  /** True while nothing runs here that another leader might run, too. A process without partitions: always. */
  readonly hasLetGo: () => boolean;
  /**
   * The process can be no member any more and has to end: RT0005 when another one of its name has started, META0010 when the cluster
   * writes what it cannot read.
   */
  readonly onFatal: (error: EngineError) => void;
}

export class Member implements Service {
  readonly #options: MemberOptions;
  readonly #dependencies: MemberDependencies;
  #registration: Registration | undefined;
  readonly #states = new Listeners<LeaseState>();
  readonly #accesses = new Listeners<boolean>();
  #lease: OwnLease | undefined;
  #formatWatch: Disposable | undefined;
  #isFatal = false;

  constructor(options: MemberOptions, dependencies: MemberDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  get id(): NodeId {
    return this.#options.id;
  }

  /** 0 before it has started. */
  get incarnation(): number {
    return this.#registration?.incarnation ?? 0;
  }

  /** As the clock says in this moment. */
  get leaseState(): LeaseState {
    return this.#lease?.state ?? 'lost';
  }

  /** `listener` hears each change; `held` comes only after the view has told the newest table. The first state of all is `lost`. */
  onLease(listener: (state: LeaseState) => void): Disposable {
    return this.#states.add(listener);
  }

  /** `listener` hears of each write of the lease whether the store acknowledged it: a sign of whether this process can write at all. */
  onAccess(listener: (isGood: boolean) => void): Disposable {
    return this.#accesses.add(listener);
  }

  /** Looks at the clock; call it first where a pause of the process must not go unseen. Effects: `onLease` hears what has changed. */
  check(): void {
    this.#lease?.check();
  }

  /**
   * Registers and takes the lease; a store that does not answer is asked again for a minute.
   *
   * Throws EngineError META0010 when the cluster writes what this binary cannot read, RT0005 when another process of the same name
   * starts meanwhile, `unavailable` when the store cannot be reached.
   */
  async start(): Promise<void> {
    const { store, view, addresses } = this.#dependencies;
    const registration = new Registration({ ...this.#options, addresses: addresses() }, store);
    this.#registration = registration;
    this.#requireFormat();
    // Told again once this node is registered: it may have been raised just before.
    this.#formatWatch = view.onCluster(() => {
      this.#guard(() => {
        this.#requireFormat();
      });
    });
    try {
      registered(await this.#patiently(() => registration.register()));
      await this.#patiently(() => view.readCluster());
      // From now on this node is among the nodes that it knows.
      await view.refresh();
      this.#requireFormat();
      const lease = this.#makeLease(registration);
      await this.#patiently(() => lease.take());
    } catch (error) {
      this.#formatWatch[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Says in the node document that this node is about to end, and waits until nothing is led here, nobody is there to hand over to, or
   * `limitMs` have passed. The lease is kept.
   */
  async leave({ limitMs }: { readonly limitMs: number }): Promise<LeaveOutcome> {
    leaveBegun(this.id);
    const announce = (): Promise<unknown> => this.#registration?.leave() ?? Promise.resolve();
    const outcome = await untilMayGo(limitMs, { ...this.#dependencies, id: this.id, announce });
    leaveEnded(outcome);
    return outcome;
  }

  /** Effects: `onLease` hears `lost`; once everything is let go, a goodbye. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#formatWatch?.[Symbol.dispose]();
    const lease = this.#lease;
    if (lease === undefined) return;
    lease.stop();
    if (await untilLetGo(GOODBYE_PATIENCE_MS, this.#dependencies)) {
      await this.#withinPatience(lease.sayGoodbye());
    } else {
      goodbyeFailed(new Error('what runs here does not end'));
    }
  }

  #makeLease(registration: Registration): OwnLease {
    const { store, clock, scheduler, view } = this.#dependencies;
    const { id, leaseTtlMs } = this.#options;
    const holder = `${id}/${String(registration.incarnation)}`;
    const register = (): Promise<void> => this.#registerAgain(registration);
    const readTable = (): Promise<void> => view.readTable();
    const lease = new OwnLease(
      { name: nodeLease(id), holder, ttlMs: leaseTtlMs },
      { store, clock, scheduler, register, readTable },
    );
    lease.onState((state) => {
      this.#states.tell(state);
    });
    lease.onAccess((isGood) => {
      this.#accesses.tell(isGood);
    });
    this.#lease = lease;
    return lease;
  }

  async #registerAgain(registration: Registration): Promise<void> {
    try {
      await registration.register();
    } catch (error) {
      this.#guard(() => {
        throw error;
      });
      throw error;
    }
  }

  #requireFormat(): void {
    const { cluster } = this.#dependencies.view;
    if (cluster !== undefined) requireReadableFormat(cluster, this.#options.formats);
  }

  /** Tells the first error that a member cannot live with. */
  #guard(body: () => void): void {
    try {
      body();
    } catch (error) {
      if (!isEngineError(error) || error.code === 'unavailable' || this.#isFatal) return;
      this.#isFatal = true;
      this.#dependencies.onFatal(error);
    }
  }

  async #patiently<T>(body: () => Promise<T>): Promise<T> {
    const { clock, scheduler } = this.#dependencies;
    const end = clock.monotonic() + REGISTRATION_PATIENCE_MS;
    for (;;) {
      try {
        return await body();
      } catch (error) {
        const mayPass = isEngineError(error) && error.code === 'unavailable';
        if (!mayPass || clock.monotonic() >= end) throw error;
        registrationDelayed(error);
      }
      await delay(scheduler, REGISTRATION_RETRY_MS);
    }
  }

  async #withinPatience(body: Promise<void>): Promise<void> {
    const limit = new AbortController();
    const late = delay(this.#dependencies.scheduler, GOODBYE_PATIENCE_MS, limit.signal);
    await Promise.race([body, late.catch(() => undefined)]);
    limit.abort();
  }
}
