/**
 * The next step from the table in force towards the one that placement wants. The dead are replaced at once, all of them; the living
 * hand over to a standby that is ready, a few at a time; places of standbys are given up only when the new ones have the data.
 *
 * A leader that is named is one that can start at once where there is any: availability comes before balance, and balance follows.
 */

import type { NodeId, PartitionAssignment, PartitionReport, PartitionTable } from '@engine/domain';

import {
  epochAfter,
  leadersUpTo,
  replacePartitions,
  UNASSIGNED,
  withStandbys,
} from '../placement/assignment.js';
import type { Availability } from '../placement/placement-input.js';

export interface StepInput {
  readonly table: PartitionTable;
  readonly goal: PartitionTable;
  /** Also true of nodes that placement has no use for. */
  readonly isAlive: (node: NodeId) => boolean;
  readonly availability: (node: NodeId) => Availability;
  readonly report: (partition: number, node: NodeId) => PartitionReport | undefined;
  readonly logEpoch: (partition: number) => bigint;
  readonly isUnfit: (partition: number, node: NodeId) => boolean;
  /** True when a node that wants to leave has waited long enough for a standby to be ready. */
  readonly isOverdue: (node: NodeId) => boolean;
  /** Partitions whose living leader may change at a time. */
  readonly handoversMax: number;
  /** New standbys that may fill at a time. */
  readonly fillsMax: number;
}

/** Gives `input.table` itself when there is nothing to do now. */
export function nextTable(input: StepInput): PartitionTable {
  return new TableStep(input).take();
}

/** True when the leader in the table has said that it leads. */
export function isSettled(
  { leader, epoch }: PartitionAssignment,
  report: PartitionReport | undefined,
): boolean {
  return leader !== undefined && report?.epoch === epoch && report.phase === 'leader';
}

class TableStep {
  readonly #input: StepInput;
  #handovers = 0;
  #fills = 0;
  readonly #led = new Map<NodeId, number>();

  constructor(input: StepInput) {
    this.#input = input;
    for (const [partition, assignment] of input.table.partitions.entries()) {
      const { leader, standbys } = assignment;
      if (leader === undefined) continue;
      this.#countLeader(leader);
      const isMoving =
        input.isAlive(leader) && !isSettled(assignment, this.#report(partition, leader));
      if (isMoving) this.#handovers += 1;
      const filling = standbys.filter(
        (id) => this.#isReady(id) && !this.#isCaughtUp(partition, id),
      );
      this.#fills += filling.length;
    }
  }

  take(): PartitionTable {
    const { table, goal } = this.#input;
    const partitions = goal.partitions.map((wanted, partition) =>
      this.#next(partition, this.#forgetDead(table.partitions[partition] ?? UNASSIGNED), wanted),
    );
    return replacePartitions(table, partitions);
  }

  /** Who was counted dead has let go of its attempts: the new leader need not wait for it. */
  #forgetDead(current: PartitionAssignment): PartitionAssignment {
    const living = current.predecessors.filter((id) => this.#input.isAlive(id));
    const isSame = living.length === current.predecessors.length;
    return isSame ? current : { ...current, predecessors: living };
  }

  #next(
    partition: number,
    current: PartitionAssignment,
    wanted: PartitionAssignment,
  ): PartitionAssignment {
    const { leader } = current;
    if (leader === undefined) return wanted;
    if (!this.#input.isAlive(leader)) return this.#failOver(partition, current, wanted);
    const report = this.#report(partition, leader);
    if (report?.fault === 'tail-lost') return current;
    if (this.#input.isUnfit(partition, leader)) return this.#failOver(partition, current, wanted);
    if (hasGivenUp(current, report)) {
      const stays = this.#isReady(leader);
      return stays
        ? this.#move(partition, current, leader)
        : this.#failOver(partition, current, wanted);
    }
    if (wanted.leader === undefined || wanted.leader === leader) {
      return this.#seat(partition, current, wanted.standbys);
    }
    return this.#handOver(partition, current, wanted.leader);
  }

  /** The leader cannot lead: the best successor, at once. */
  #failOver(
    partition: number,
    current: PartitionAssignment,
    wanted: PartitionAssignment,
  ): PartitionAssignment {
    const successor = this.#successor(partition, current, wanted.leader);
    if (successor === undefined || successor === current.leader) return current;
    return this.#move(partition, current, successor);
  }

  /** A standby that is ready, the wanted one first, then whoever leads least; else who has most of the log; else the wanted one. */
  #successor(
    partition: number,
    { standbys }: PartitionAssignment,
    wanted: NodeId | undefined,
  ): NodeId | undefined {
    const { isAlive, isUnfit } = this.#input;
    const living = standbys.filter((id) => isAlive(id) && !isUnfit(partition, id));
    const caughtUp = living.filter((id) => this.#isCaughtUp(partition, id));
    const ready = caughtUp.filter((id) => this.#isReady(id));
    if (wanted !== undefined && ready.includes(wanted)) return wanted;
    const best = this.#leastLoaded(ready) ?? this.#leastLoaded(caughtUp);
    if (best !== undefined) return best;
    if (wanted !== undefined && isAlive(wanted)) {
      return (
        this.#mostApplied(
          partition,
          living.filter((id) => this.#isReady(id)),
        ) ?? wanted
      );
    }
    return this.#mostApplied(partition, living);
  }

  #handOver(partition: number, current: PartitionAssignment, wanted: NodeId): PartitionAssignment {
    const { leader, standbys } = current;
    if (leader === undefined || !isSettled(current, this.#report(partition, leader)))
      return current;
    const isUrgent = !this.#isReady(leader);
    const heir = this.#heir(partition, { current, wanted, leader, isUrgent });
    if (heir !== undefined) {
      if (this.#handovers >= this.#input.handoversMax) return current;
      this.#handovers += 1;
      return this.#move(partition, current, heir);
    }
    if (standbys.includes(wanted)) return current;
    if (!isUrgent && !this.#mayFill()) return current;
    this.#fills += 1;
    return withStandbys(current, [...standbys, wanted]);
  }

  /** Who takes over now; undefined: wait. A leader that stays waits for the wanted one, one that goes takes any that is ready. */
  #heir(partition: number, { current, wanted, leader, isUrgent }: Handover): NodeId | undefined {
    const ready = current.standbys.filter(
      (id) =>
        this.#isReady(id) && this.#isCaughtUp(partition, id) && !this.#input.isUnfit(partition, id),
    );
    if (ready.includes(wanted)) return wanted;
    if (!isUrgent) return undefined;
    const other = this.#leastLoaded(ready);
    if (other !== undefined) return other;
    return this.#input.isOverdue(leader) && this.#isReady(wanted) ? wanted : undefined;
  }

  /** New places first; old ones go when every new one has the data, or when their node is gone. */
  #seat(
    partition: number,
    current: PartitionAssignment,
    wanted: readonly NodeId[],
  ): PartitionAssignment {
    const kept = current.standbys.filter((id) => this.#input.availability(id) !== 'gone');
    const added: NodeId[] = [];
    for (const id of wanted) {
      if (kept.includes(id)) continue;
      if (!this.#mayFill()) continue;
      this.#fills += 1;
      added.push(id);
    }
    const seated = [...kept, ...added];
    const isComplete = wanted.every(
      (id) => seated.includes(id) && (!this.#isReady(id) || this.#isCaughtUp(partition, id)),
    );
    const standbys = isComplete ? seated.filter((id) => wanted.includes(id)) : seated;
    return withStandbys(current, standbys);
  }

  #move(partition: number, current: PartitionAssignment, to: NodeId): PartitionAssignment {
    const { leader, standbys } = current;
    const keepsPlace =
      leader !== undefined &&
      leader !== to &&
      this.#input.availability(leader) !== 'gone' &&
      !this.#input.isUnfit(partition, leader);
    const others = standbys.filter((id) => id !== to);
    this.#countLeader(to);
    return {
      leader: to,
      epoch: epochAfter(current, this.#input.logEpoch(partition)),
      standbys: keepsPlace ? [leader, ...others] : others,
      predecessors: this.#predecessors(partition, current).filter((id) => id !== to),
    };
  }

  /** Who may still run attempts: the leader alone once it led, else also those whom it would have asked. The dead have let go. */
  #predecessors(partition: number, current: PartitionAssignment): readonly NodeId[] {
    const { leader, epoch } = current;
    const report = leader === undefined ? undefined : this.#report(partition, leader);
    const hasLed = report?.epoch === epoch && LED.has(report.phase);
    const leaders = hasLed && leader !== undefined ? [leader] : leadersUpTo(current);
    return leaders.filter((id) => this.#input.isAlive(id));
  }

  #leastLoaded(nodes: readonly NodeId[]): NodeId | undefined {
    const load = (id: NodeId): number => this.#led.get(id) ?? 0;
    return nodes.toSorted((a, b) => load(a) - load(b) || (a < b ? -1 : 1))[0];
  }

  #mostApplied(partition: number, nodes: readonly NodeId[]): NodeId | undefined {
    const applied = (id: NodeId): bigint => this.#report(partition, id)?.applied ?? -1n;
    return nodes.toSorted((a, b) =>
      applied(a) > applied(b) ? -1 : applied(a) < applied(b) ? 1 : 0,
    )[0];
  }

  #countLeader(node: NodeId): void {
    this.#led.set(node, (this.#led.get(node) ?? 0) + 1);
  }

  #mayFill(): boolean {
    return this.#fills < this.#input.fillsMax;
  }

  #isReady(node: NodeId): boolean {
    return this.#input.availability(node) === 'ready';
  }

  #isCaughtUp(partition: number, node: NodeId): boolean {
    return this.#report(partition, node)?.isCaughtUp === true;
  }

  #report(partition: number, node: NodeId): PartitionReport | undefined {
    return this.#input.report(partition, node);
  }
}

interface Handover {
  readonly current: PartitionAssignment;
  readonly wanted: NodeId;
  readonly leader: NodeId;
  /** The leader goes away. */
  readonly isUrgent: boolean;
}

const LED: ReadonlySet<PartitionReport['phase']> = new Set([
  'rebuilding',
  'leader',
  'stepping-down',
]);

/** It was named and found the log at or beyond its epoch: it needs a later one. */
function hasGivenUp({ epoch }: PartitionAssignment, report: PartitionReport | undefined): boolean {
  if (report?.epoch !== epoch || report.logEpoch < epoch) return false;
  return report.phase === 'follower' || report.phase === 'idle';
}
