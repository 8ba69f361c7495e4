/**
 * All partitions of a node: each has a host that follows, stands and leads as the table says and the log allows. It is told the table and
 * the state of the node's lease, and tells other nodes and the controller what they ask.
 */

import { assignmentOf } from '@engine/cluster';
import {
  toPartitionId,
  type NodeId,
  type PartitionId,
  type PartitionReport,
  type PartitionTable,
} from '@engine/domain';
import type { LeaseState } from '@engine/metadata';
import type { Cancellable, Service } from '@engine/runtime';
import type { AppliedPosition, NodeControl } from '@engine/wire';

import { PartitionHost, type PartitionHostDependencies } from './partition-host.js';

/** How often the machines are told that time passes, and the lease is looked at. */
const TICK_MS = 500;

export interface HostingOptions {
  readonly node: NodeId;
  /** How long living predecessors are waited for: the TTL of the leases of nodes. */
  readonly handoverPatienceMs: number;
}

export interface HostingDependencies extends Omit<PartitionHostDependencies, 'mayBeginAttempts'> {
  /**
   * The node's lease as its holder sees it now: asked before each attempt begins, because after a pause of the process that may come
   * before anything else. Default: as `lease` told last.
   */
  readonly isLeaseHeld?: () => boolean;
}

export class Hosting implements Service, NodeControl {
  readonly #options: HostingOptions;
  readonly #dependencies: HostingDependencies;
  readonly #hosts = new Map<PartitionId, PartitionHost>();
  #table: PartitionTable | undefined;
  /** As it was told. */
  #lease: LeaseState = 'lost';
  /** As the hosts know it: `lapsed` already when the holder sees it first. */
  #shownLease: LeaseState = 'lost';
  #timer: Cancellable | undefined;
  #isStopped = false;

  constructor(options: HostingOptions, dependencies: HostingDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Effects: time passes for the partitions from now on. */
  start(): Promise<void> {
    this.#tick();
    return Promise.resolve();
  }

  /** The table as it is now. One that is older than the last counts for nothing. */
  assigned(table: PartitionTable): void {
    if (this.#isStopped || (this.#table?.version ?? -1) >= table.version) return;
    this.#table = table;
    for (const index of table.partitions.keys()) {
      const partition = toPartitionId(index);
      const assignment = assignmentOf(table, index, this.#options.node);
      const host = this.#hosts.get(partition);
      if (host !== undefined) host.assigned(assignment);
      else if (assignment.role !== 'none') this.#host(partition).assigned(assignment);
    }
  }

  /** The state of the node's lease, at every change. Before `held` comes after `lost`, the newest table was told. */
  lease(state: LeaseState): void {
    this.#lease = state;
    this.#showLease();
  }

  /** True when no partition is led here, and nothing runs that was begun as a leader: the process may end. */
  get leadsNothing(): boolean {
    for (const host of this.#hosts.values()) if (!host.hasLetGo) return false;
    return true;
  }

  hasLetGo(): boolean {
    return this.leadsNothing;
  }

  reports(): Promise<ReadonlyMap<PartitionId, PartitionReport>> {
    const reports = new Map<PartitionId, PartitionReport>();
    for (const { partition, hasPart, report } of this.#hosts.values()) {
      if (hasPart) reports.set(partition, report);
    }
    return Promise.resolve(reports);
  }

  /** Also of a partition in which the node has no part so far as it knows: it never leads it in an earlier epoch then. */
  stopLeading(partition: PartitionId, epoch: bigint): Promise<void> {
    const isUnknown = this.#table !== undefined && partition >= this.#table.partitions.length;
    if (this.#isStopped || isUnknown) return Promise.resolve();
    return this.#host(partition).stopLeading(epoch);
  }

  applied(partition: PartitionId): Promise<AppliedPosition | undefined> {
    return Promise.resolve(this.#hosts.get(partition)?.applied);
  }

  /** Leads and follows nothing any more, at once. Resolves when the stores are not used any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await Promise.all([...this.#hosts.values()].map((host) => host.stop()));
  }

  #host(partition: PartitionId): PartitionHost {
    const known = this.#hosts.get(partition);
    if (known !== undefined) return known;
    const { node, handoverPatienceMs } = this.#options;
    const host = new PartitionHost(
      { partition, node, handoverPatienceMs },
      { ...this.#dependencies, mayBeginAttempts: this.#mayBeginAttempts },
    );
    this.#hosts.set(partition, host);
    host.tell({ kind: 'lease', state: this.#shownLease });
    return host;
  }

  readonly #mayBeginAttempts = (): boolean => {
    this.#showLease();
    return this.#shownLease === 'held';
  };

  #showLease(): void {
    const isOver = this.#lease === 'held' && this.#dependencies.isLeaseHeld?.() === false;
    const state = isOver ? 'lapsed' : this.#lease;
    if (state === this.#shownLease || this.#isStopped) return;
    this.#shownLease = state;
    for (const host of this.#hosts.values()) host.tell({ kind: 'lease', state });
  }

  #tick(): void {
    if (this.#isStopped) return;
    this.#showLease();
    for (const host of this.#hosts.values()) host.tell({ kind: 'tick' });
    this.#timer = this.#dependencies.scheduler.after(TICK_MS, () => {
      this.#tick();
    });
  }
}
