/** Who leads: everybody keeps what is within its quota, the rest goes to those below theirs, by rendezvous. */

import type { NodeId } from '@engine/domain';

import { isAlive, type PlacementInput } from './placement-input.js';
import type { Rendezvous } from './rendezvous.js';

/** One leader per partition; undefined where there never was one and nobody can lead. */
export function placeLeaders(
  input: PlacementInput,
  rendezvous: Rendezvous,
): readonly (NodeId | undefined)[] {
  const nodes = leadingNodes(input);
  const before = input.table?.partitions ?? [];
  const leaders = Array.from({ length: input.partitionCount }, (_, id) => before[id]?.leader);
  if (nodes.length === 0) return leaders;
  return new LeaderDraft(input, nodes, rendezvous).complete(leaders);
}

function leadingNodes({ nodes }: PlacementInput): readonly NodeId[] {
  const ready = nodes.filter(({ availability }) => availability === 'ready');
  const chosen = ready.length > 0 ? ready : nodes.filter(isAlive);
  return chosen.map(({ id }) => id).sort();
}

class LeaderDraft {
  readonly #input: PlacementInput;
  readonly #nodes: readonly NodeId[];
  readonly #rendezvous: Rendezvous;
  /** Partitions that each node leads so far. */
  readonly #held: Map<NodeId, number[]>;
  /** Every node may lead so many, and `#extras` of them one more. */
  #level = 0;
  #extras = 0;

  constructor(input: PlacementInput, nodes: readonly NodeId[], rendezvous: Rendezvous) {
    this.#input = input;
    this.#nodes = nodes;
    this.#rendezvous = rendezvous;
    this.#held = new Map(nodes.map((node) => [node, []]));
  }

  complete(current: readonly (NodeId | undefined)[]): readonly (NodeId | undefined)[] {
    const leaders: (NodeId | undefined)[] = [...current];
    const pinned = this.#takePins(leaders);
    this.#setQuotas();
    const homeless = this.#keepWithinQuota(leaders, pinned);
    for (const partition of this.#byFewestStandbys(homeless)) {
      const chosen = this.#choose(partition);
      if (chosen === undefined) continue;
      this.#take(chosen, partition);
      leaders[partition] = chosen;
    }
    return leaders;
  }

  #takePins(leaders: (NodeId | undefined)[]): ReadonlySet<number> {
    const pinned = new Set<number>();
    for (const [partition, node] of this.#input.pins) {
      if (!this.#held.has(node) || !this.#fits(partition, node)) continue;
      if (partition >= leaders.length) continue;
      pinned.add(partition);
      leaders[partition] = node;
      this.#held.get(node)?.push(partition);
    }
    return pinned;
  }

  /** The level to which the partitions fill the nodes, over what pins have put there already. */
  #setQuotas(): void {
    const { partitionCount } = this.#input;
    const pins = this.#nodes.map((node) => this.#count(node));
    const filled = (level: number): number =>
      pins.reduce((sum, count) => sum + Math.max(count, level), 0);
    this.#level = Math.floor(partitionCount / this.#nodes.length);
    while (filled(this.#level) > partitionCount) this.#level -= 1;
    this.#extras = partitionCount - filled(this.#level);
  }

  /** Gives back the partitions that need a new leader. */
  #keepWithinQuota(
    leaders: readonly (NodeId | undefined)[],
    pinned: ReadonlySet<number>,
  ): number[] {
    const claims = new Map<NodeId, number[]>(this.#nodes.map((node) => [node, []]));
    const homeless: number[] = [];
    for (const [partition, leader] of leaders.entries()) {
      if (pinned.has(partition)) continue;
      const claim = leader === undefined ? undefined : claims.get(leader);
      if (leader === undefined || claim === undefined || !this.#fits(partition, leader)) {
        homeless.push(partition);
      } else {
        claim.push(partition);
      }
    }
    for (const node of this.#byMost(claims)) {
      const claim = claims.get(node) ?? [];
      if (this.#count(node) + claim.length > this.#level) this.#sortForKeeping(node, claim);
      for (const partition of claim) {
        if (this.#hasRoom(node)) this.#take(node, partition);
        else homeless.push(partition);
      }
    }
    return homeless;
  }

  /** Nodes that hold more come first, so that the extra places stay where they are used. */
  #byMost(claims: ReadonlyMap<NodeId, readonly number[]>): readonly NodeId[] {
    const total = (node: NodeId): number => this.#count(node) + (claims.get(node)?.length ?? 0);
    return this.#nodes.toSorted((a, b) => total(b) - total(a));
  }

  /** First what the node should rather keep: what nobody below the quota can lead, then what no standby there can take over. */
  #sortForKeeping(node: NodeId, claim: number[]): void {
    const isOpenTo = (partition: number, other: NodeId): boolean =>
      this.#isBelowLevel(other) && this.#fits(partition, other);
    const rank = (partition: number): number => {
      if (this.#standbys(partition).some((standby) => isOpenTo(partition, standby))) return 2;
      return this.#nodes.some((other) => isOpenTo(partition, other)) ? 1 : 0;
    };
    claim.sort((a, b) => {
      const movable = rank(a) - rank(b);
      if (movable !== 0) return movable;
      const [weightA, weightB] = [a, b].map((id) => this.#rendezvous.weight(id, node));
      return (weightA ?? 0n) > (weightB ?? 0n) ? -1 : 1;
    });
  }

  /** What no standby has room for goes last: it fits anywhere as well as anywhere else, and takes no room that a standby was given. */
  #byFewestStandbys(homeless: readonly number[]): readonly number[] {
    const choices = (partition: number): number =>
      this.#standbys(partition).filter(
        (standby) =>
          this.#held.has(standby) && this.#hasRoom(standby) && this.#fits(partition, standby),
      ).length;
    const rank = (partition: number): number => choices(partition) || Infinity;
    return homeless.toSorted((a, b) => {
      const [rankA, rankB] = [rank(a), rank(b)];
      return rankA === rankB ? a - b : rankA - rankB;
    });
  }

  /**
   * A standby with room, else whom the hash prefers among those with room. Without any room it stays where it is, so that the table comes
   * to rest; if it cannot, the least loaded.
   */
  #choose(partition: number): NodeId | undefined {
    const fit = this.#nodes.filter((node) => this.#fits(partition, node));
    const roomy = fit.filter((node) => this.#hasRoom(node));
    if (roomy.length === 0) {
      const current = this.#input.table?.partitions[partition]?.leader;
      if (current !== undefined && fit.includes(current)) return current;
      return fit.toSorted((a, b) => this.#count(a) - this.#count(b))[0];
    }
    const standbys = this.#standbys(partition).filter((standby) => roomy.includes(standby));
    const among = standbys.length > 0 ? standbys : roomy;
    return among.toSorted((a, b) => this.#rendezvous.compare(partition, a, b))[0];
  }

  #take(node: NodeId, partition: number): void {
    const held = this.#held.get(node);
    held?.push(partition);
    if (held?.length === this.#level + 1) this.#extras -= 1;
  }

  #hasRoom(node: NodeId): boolean {
    return this.#count(node) < this.#level + (this.#extras > 0 ? 1 : 0);
  }

  #isBelowLevel(node: NodeId): boolean {
    return this.#held.has(node) && this.#count(node) < this.#level;
  }

  #count(node: NodeId): number {
    return this.#held.get(node)?.length ?? 0;
  }

  #standbys(partition: number): readonly NodeId[] {
    return this.#input.table?.partitions[partition]?.standbys ?? [];
  }

  #fits(partition: number, node: NodeId): boolean {
    return !this.#input.isUnfit(partition, node);
  }
}
