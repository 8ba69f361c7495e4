/**
 * The controller of a cluster: one admin holds its lease and decides who leads which partition; the others watch (SPEC CTL-1 to CTL-9,
 * docs/design/placement.md). What it hears goes in, writes come out; the driver performs them and tells what came of them.
 *
 * A controller that is not one any more does no harm: the table is replaced by compare-and-set, and the log alone decides who leads.
 */

import {
  NO_ORDERS,
  type ClusterNode,
  type NodeId,
  type PartitionAssignment,
  type PartitionTable,
  type PlacementOrders,
  type PartitionReport,
} from '@engine/domain';
import { LeaseHolder, LeaseWatch, type LeaseTimes } from '@engine/metadata';
import { assertNever } from '@engine/stdx';

import { place } from '../placement/place.js';
import type { PlacementNode } from '../placement/placement-input.js';
import type { Rendezvous } from '../placement/rendezvous.js';
import type { ControllerAction, ControllerInput, EntryRevision } from './controller-io.js';
import { isSettled, nextTable } from './next-table.js';
import { NodeHealth } from './node-health.js';

export interface ControllerOptions {
  readonly self: NodeId;
  readonly partitionCount: number;
  readonly standbyCount: number;
  readonly formatVersion: number;
  readonly times: LeaseTimes;
  /** Partitions whose living leader may change at a time. */
  readonly handoversMax: number;
  /** New standbys that may fill at a time. */
  readonly fillsMax: number;
  /** Places of a dead node are kept so long. */
  readonly absentMs: number;
  /** A living node that was named leader and does not lead after so long is passed over, if a standby is ready. */
  readonly takeOverPatienceMs: number;
  /** A leader that wants to leave waits so long for a standby to be ready. */
  readonly leavingPatienceMs: number;
  /** The first table waits so long after the first worker, so that those that start together share it. */
  readonly firstTableDelayMs: number;
}

export type ControllerTuning = Omit<
  ControllerOptions,
  'self' | 'partitionCount' | 'formatVersion' | 'times'
>;

export const DEFAULT_TUNING: ControllerTuning = {
  standbyCount: 1,
  handoversMax: 4,
  fillsMax: 8,
  absentMs: 60_000,
  takeOverPatienceMs: 10_000,
  leavingPatienceMs: 10_000,
  firstTableDelayMs: 2_000,
};

/** Stands beside the nodes in the lease watch; no node id has a slash. */
const CONTROLLER = '/controller';

/** A node that was passed over is tried again after this, in ms. */
const PASSED_OVER_MS = 60_000;

const NOTHING: readonly ControllerAction[] = [];

export class Controller {
  readonly #options: ControllerOptions;
  readonly #rendezvous: Rendezvous;
  readonly #watch: LeaseWatch<string>;
  readonly #lease: LeaseHolder;
  readonly #health: NodeHealth;
  #isSynced = false;
  #nodes: readonly ClusterNode[] = [];
  #orders: PlacementOrders = NO_ORDERS;
  readonly #reports = new Map<NodeId, ReadonlyMap<number, PartitionReport>>();
  /** Highest epoch that any node read in the log of a partition. */
  readonly #logEpochs = new Map<number, bigint>();
  #holder: NodeId | undefined;
  #leaseRevision: EntryRevision = 'absent';
  #leaseWrittenAt: number | undefined;
  #isWritingLease = false;
  #table: PartitionTable | undefined;
  #tableRevision: EntryRevision = 'absent';
  /** The table on its way; its revision is not known yet. */
  #writing: PartitionTable | undefined;
  #firstWorkerAt: number | undefined;
  #hasAlarmed = false;
  /** Burials on their way. */
  readonly #burying = new Set<NodeId>();
  /** Per partition: the epoch in force and since when it is known here. */
  readonly #epochs = new Map<number, { readonly epoch: bigint; readonly since: number }>();
  /** `seatOf` → until when the node is passed over. */
  readonly #passedOver = new Map<string, number>();
  readonly #leavingSince = new Map<NodeId, number>();

  constructor(options: ControllerOptions, rendezvous: Rendezvous) {
    this.#options = options;
    this.#rendezvous = rendezvous;
    this.#watch = new LeaseWatch(options.times);
    this.#lease = new LeaseHolder(options.times);
    const { absentMs, formatVersion, times } = options;
    this.#health = new NodeHealth({ ttlMs: times.ttlMs, absentMs, formatVersion }, this.#watch);
  }

  /** True while it decides: it holds the lease by its own clock. */
  isActive(now: number): boolean {
    return this.#lease.isHeld(now);
  }

  /** Who holds the controller lease, as far as is known here. */
  get holder(): NodeId | undefined {
    return this.#holder;
  }

  /** Takes what happened, at `now` in ms of a monotonic clock, and gives what to do. */
  step(input: ControllerInput, now: number): readonly ControllerAction[] {
    if (input.kind === 'tick') return this.#onTick(now);
    this.#hear(input, now);
    return NOTHING;
  }

  #hear(input: Exclude<ControllerInput, { kind: 'tick' }>, now: number): void {
    switch (input.kind) {
      case 'synced':
        this.#isSynced = true;
        return;
      case 'access-succeeded':
        this.#watch.accessSucceeded(input.of, now);
        return;
      case 'access-failed':
        this.#watch.accessFailed();
        return;
      case 'nodes':
        this.#hearOfNodes(input.nodes);
        return;
      case 'node-lease':
        this.#watch.seen(input.node, input, now);
        return;
      case 'goodbye':
        this.#watch.goodbye(input.node, input.revision, now);
        return;
      case 'bury-ended':
        this.#burying.delete(input.node);
        return;
      case 'refused':
        this.#watch.refused(input.node, now);
        return;
      case 'reached':
        this.#watch.reached(input.node);
        return;
      case 'orders':
        this.#orders = input.orders;
        return;
      case 'reports':
        this.#hearReports(input.node, input.reports);
        return;
      case 'controller-lease':
      case 'lease-written':
      case 'lease-refused':
        this.#hearOfLease(input, now);
        return;
      case 'table':
      case 'table-written':
      case 'table-refused':
        this.#hearOfTable(input);
        return;
      default:
        assertNever(input);
    }
  }

  /** What a process said before its restart is not true any more. */
  #hearOfNodes(nodes: readonly ClusterNode[]): void {
    const known = new Map(this.#nodes.map(({ id, incarnation }) => [id, incarnation]));
    for (const { id, incarnation } of nodes) {
      if (known.get(id) !== incarnation) this.#reports.delete(id);
    }
    this.#nodes = nodes;
  }

  #hearReports(node: NodeId, reports: ReadonlyMap<number, PartitionReport>): void {
    this.#reports.set(node, reports);
    for (const [partition, { logEpoch }] of reports) {
      if (logEpoch > this.#logEpoch(partition)) this.#logEpochs.set(partition, logEpoch);
    }
  }

  #hearOfLease(
    input: Extract<
      ControllerInput,
      { kind: 'controller-lease' | 'lease-written' | 'lease-refused' }
    >,
    now: number,
  ): void {
    if (input.kind !== 'controller-lease') this.#isWritingLease = false;
    if (input.kind === 'lease-refused') {
      this.#lease.lost(now);
      return;
    }
    if (input.kind === 'lease-written') {
      this.#lease.renewed(input.sentAt);
      this.#leaseWrittenAt = input.sentAt;
    }
    const { revision } = input;
    if (revision === 'absent' || !isLater(revision, this.#leaseRevision)) return;
    this.#leaseRevision = revision;
    this.#holder = input.kind === 'lease-written' ? this.#options.self : input.holder;
    this.#watch.seen(CONTROLLER, { revision, ttlMs: this.#options.times.ttlMs }, now);
    if (this.#holder !== this.#options.self) this.#lease.lost(now);
  }

  #hearOfTable(
    input: Extract<ControllerInput, { kind: 'table' | 'table-written' | 'table-refused' }>,
  ): void {
    if (input.kind === 'table-refused') {
      this.#writing = undefined;
      return;
    }
    const table = input.kind === 'table' ? input.table : this.#writing;
    if (input.kind === 'table-written') this.#writing = undefined;
    const { revision } = input;
    if (table === undefined || revision === 'absent') return;
    if (!isLater(revision, this.#tableRevision)) return;
    this.#table = table;
    this.#tableRevision = revision;
  }

  #onTick(now: number): readonly ControllerAction[] {
    if (!this.#isSynced) return NOTHING;
    const lease = this.#leaseActions(now);
    const isAble = this.#lease.isHeld(now) && this.#watch.isSighted(now);
    return isAble ? [...lease, ...this.#decide(now)] : lease;
  }

  #leaseActions(now: number): readonly ControllerAction[] {
    if (this.#isWritingLease || !this.#wantsLease(now)) return NOTHING;
    this.#isWritingLease = true;
    return [{ kind: 'write-lease', expected: this.#leaseRevision }];
  }

  #wantsLease(now: number): boolean {
    const { self, times } = this.#options;
    if (this.#holder === self) {
      const writtenAt = this.#leaseWrittenAt;
      return writtenAt === undefined || now - writtenAt >= times.renewalIntervalMs;
    }
    if (this.#leaseRevision === 'absent' || this.#holder === undefined) return true;
    const holderNode = this.#watch.liveness(this.#holder, now);
    if (holderNode === 'gone' || holderNode === 'refused') return true;
    return this.#watch.liveness(CONTROLLER, now) === 'stale';
  }

  #decide(now: number): readonly ControllerAction[] {
    const nodes = this.#health.assess(this.#nodes, this.#orders, now);
    for (const { id } of nodes) if (!this.#health.isAlive(id)) this.#reports.delete(id);
    const first = [...this.#alarm(), ...this.#bury()];
    if (this.#writing !== undefined || this.#orders.isFrozen) return first;
    this.#noteTimes(nodes, now);
    const table = this.#next(nodes, now);
    if (table === undefined || table === this.#table) return first;
    this.#writing = table;
    return [...first, { kind: 'write-table', table, expected: this.#tableRevision }];
  }

  #bury(): readonly ControllerAction[] {
    return this.#health.dying.flatMap((node) => {
      const expected = this.#watch.revisionOf(node);
      if (expected === undefined || this.#burying.has(node)) return [];
      this.#burying.add(node);
      return [{ kind: 'bury', node, expected }] as const;
    });
  }

  #alarm(): readonly ControllerAction[] {
    const { silent } = this.#health;
    const isNew = silent.length > 0 && !this.#hasAlarmed;
    this.#hasAlarmed = silent.length > 0;
    return isNew ? [{ kind: 'alarm', silent }] : NOTHING;
  }

  #next(nodes: readonly PlacementNode[], now: number): PartitionTable | undefined {
    const goal = this.#goal(nodes, now);
    if (this.#table === undefined) return this.#isFirstTableDue(nodes, now) ? goal : undefined;
    const availabilities = new Map(nodes.map(({ id, availability }) => [id, availability]));
    const { handoversMax, fillsMax, leavingPatienceMs } = this.#options;
    return nextTable({
      table: this.#table,
      goal,
      isAlive: (node) => availabilities.has(node) && this.#health.isAlive(node),
      availability: (node) => availabilities.get(node) ?? 'gone',
      report: (partition, node) => this.#report(partition, node),
      logEpoch: (partition) => this.#logEpoch(partition),
      isUnfit: (partition, node) => this.#isUnfit(partition, node, now),
      isOverdue: (node) => now - (this.#leavingSince.get(node) ?? now) >= leavingPatienceMs,
      handoversMax,
      fillsMax,
    });
  }

  #goal(nodes: readonly PlacementNode[], now: number): PartitionTable {
    const { partitionCount, standbyCount } = this.#options;
    const pins = new Map(this.#orders.pins.map(({ partition, node }) => [partition, node]));
    const input = {
      partitionCount,
      table: this.#table,
      nodes,
      standbyCount,
      pins,
      isUnfit: (partition: number, node: NodeId) => this.#isUnfit(partition, node, now),
      logEpoch: (partition: number) => this.#logEpoch(partition),
    };
    return place(input, this.#rendezvous);
  }

  #isFirstTableDue(nodes: readonly PlacementNode[], now: number): boolean {
    if (!nodes.some(({ availability }) => availability === 'ready')) return false;
    this.#firstWorkerAt ??= now;
    return now - this.#firstWorkerAt >= this.#options.firstTableDelayMs;
  }

  #noteTimes(nodes: readonly PlacementNode[], now: number): void {
    for (const { id, availability } of nodes) {
      const isGoing = availability === 'leaving' || availability === 'draining';
      if (!isGoing) this.#leavingSince.delete(id);
      else if (!this.#leavingSince.has(id)) this.#leavingSince.set(id, now);
    }
    for (const [partition, assignment] of (this.#table?.partitions ?? []).entries()) {
      const known = this.#epochs.get(partition);
      if (known?.epoch !== assignment.epoch) {
        this.#epochs.set(partition, { epoch: assignment.epoch, since: now });
      } else if (this.#shouldPassOver(partition, assignment, now - known.since)) {
        this.#passedOver.set(seatOf(partition, assignment.leader), now + PASSED_OVER_MS);
      } else if (this.#leadsWell(partition, assignment)) {
        this.#passedOver.delete(seatOf(partition, assignment.leader));
      }
    }
  }

  /** The leader lives but does not lead, or gets nothing appended, and somebody else could. */
  #shouldPassOver(partition: number, assignment: PartitionAssignment, sinceMs: number): boolean {
    const { leader, standbys } = assignment;
    // The dead are replaced, not passed over: what they led they may lead again as soon as they are back.
    if (leader === undefined || !this.#health.isAlive(leader)) return false;
    const report = this.#report(partition, leader);
    const isLate = !isSettled(assignment, report) && sinceMs >= this.#options.takeOverPatienceMs;
    if (!isLate && report?.isStuck !== true) return false;
    return standbys.some((id) => this.#couldLead(partition, id));
  }

  #leadsWell(partition: number, assignment: PartitionAssignment): boolean {
    const { leader } = assignment;
    if (leader === undefined || !this.#health.isAlive(leader)) return false;
    const report = this.#report(partition, leader);
    return isSettled(assignment, report) && report?.isStuck === false;
  }

  #couldLead(partition: number, node: NodeId): boolean {
    const report = this.#report(partition, node);
    const isSound = report?.isCaughtUp === true && !report.isStuck && report.fault === undefined;
    return isSound && this.#health.isAlive(node);
  }

  /**
   * A store that cannot be trusted, or a node that was passed over, as long as another one could lead. A lost tail is no fault of the
   * node: nobody shall lead.
   */
  #isUnfit(partition: number, node: NodeId, now: number): boolean {
    const fault = this.#report(partition, node)?.fault;
    if (fault !== undefined && fault !== 'tail-lost') return true;
    if (!this.#isPassedOver(partition, node, now)) return false;
    const { leader, standbys = [] } = this.#table?.partitions[partition] ?? {};
    const others = [...standbys, ...(leader === undefined ? [] : [leader])];
    return others.some(
      (id) =>
        id !== node && !this.#isPassedOver(partition, id, now) && this.#couldLead(partition, id),
    );
  }

  #isPassedOver(partition: number, node: NodeId, now: number): boolean {
    return (this.#passedOver.get(seatOf(partition, node)) ?? -Infinity) > now;
  }

  #report(partition: number, node: NodeId): PartitionReport | undefined {
    return this.#reports.get(node)?.get(partition);
  }

  #logEpoch(partition: number): bigint {
    return this.#logEpochs.get(partition) ?? 0n;
  }
}

/** Key of a node's part in a partition. */
function seatOf(partition: number, node: NodeId | undefined): string {
  return `${partition}/${node ?? ''}`;
}

function isLater(revision: bigint, known: EntryRevision): boolean {
  return known === 'absent' || revision > known;
}
