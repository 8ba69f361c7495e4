/**
 * Which nodes have a part in placement, from documents, leases and orders. A node is dead once that is written onto its lease: by itself
 * as a goodbye, or by a controller that buries it. Until then it counts as alive, however long it is silent.
 *
 * Mass protection: when more than half of the workers fall silent at once, the fault is more likely in what they share than in each of
 * them. They are counted dead only after a second TTL. Goodbyes and refused connections are no silence.
 */

import type { ClusterNode, NodeId, PlacementOrders } from '@engine/domain';
import type { LeaseWatch } from '@engine/metadata';

import type { Availability, PlacementNode } from '../placement/placement-input.js';
import { readsFormat } from './formats.js';

export interface NodeHealthOptions {
  readonly ttlMs: number;
  /** Places of a dead node are kept so long, in ms: it may be back before a new standby had its data. */
  readonly absentMs: number;
  readonly formatVersion: number;
}

export class NodeHealth {
  readonly #options: NodeHealthOptions;
  readonly #watch: LeaseWatch<string>;
  /** Nodes counted dead, and since when. */
  readonly #deadSince = new Map<NodeId, number>();
  #massSince: number | undefined;
  #dying: readonly NodeId[] = [];
  #silent: readonly NodeId[] = [];

  constructor(options: NodeHealthOptions, watch: LeaseWatch<string>) {
    this.#options = options;
    this.#watch = watch;
  }

  /** Workers to bury: silent for a whole TTL, or refusing connections. */
  get dying(): readonly NodeId[] {
    return this.#dying;
  }

  /** Workers that are silent together and still treated as alive. */
  get silent(): readonly NodeId[] {
    return this.#silent;
  }

  /** Effects: counts nodes dead or alive. Call it only while the own access works. */
  assess(
    nodes: readonly ClusterNode[],
    orders: PlacementOrders,
    now: number,
  ): readonly PlacementNode[] {
    const workers = nodes.filter(({ roles }) => roles.includes('worker'));
    this.#judge(
      workers.map(({ id }) => id),
      now,
    );
    return workers.map((node) => ({
      id: node.id,
      zone: node.zone,
      availability: this.#availability(node, orders, now),
    }));
  }

  isAlive(node: NodeId): boolean {
    return !this.#deadSince.has(node);
  }

  #judge(workers: readonly NodeId[], now: number): void {
    const stale: NodeId[] = [];
    const refused: NodeId[] = [];
    for (const id of workers) {
      const liveness = this.#watch.liveness(id, now);
      if (liveness === 'gone') this.#countDead(id, now);
      else this.#deadSince.delete(id);
      if (liveness === 'stale') stale.push(id);
      if (liveness === 'refused') refused.push(id);
    }
    this.#silent = this.#isHeld(workers, stale, now) ? stale : [];
    this.#dying = this.#silent.length > 0 ? refused : [...refused, ...stale];
  }

  #isHeld(workers: readonly NodeId[], stale: readonly NodeId[], now: number): boolean {
    const living = workers.filter((id) => this.isAlive(id));
    const suspects = living.filter((id) => this.#watch.isSuspect(id, now));
    const isMass = stale.length > 0 && suspects.length > 1 && suspects.length * 2 > living.length;
    if (!isMass) {
      this.#massSince = undefined;
      return false;
    }
    this.#massSince ??= now;
    return now - this.#massSince < this.#options.ttlMs;
  }

  #countDead(id: NodeId, now: number): void {
    if (!this.#deadSince.has(id)) this.#deadSince.set(id, now);
  }

  #availability(node: ClusterNode, orders: PlacementOrders, now: number): Availability {
    if (!readsFormat(node.formats, this.#options.formatVersion)) return 'gone';
    const isDrained = orders.drained.includes(node.id);
    const deadSince = this.#deadSince.get(node.id);
    if (deadSince !== undefined) {
      const isKept = !isDrained && now - deadSince < this.#options.absentMs;
      return isKept ? 'absent' : 'gone';
    }
    if (isDrained) return 'draining';
    return node.isLeaving ? 'leaving' : 'ready';
  }
}
