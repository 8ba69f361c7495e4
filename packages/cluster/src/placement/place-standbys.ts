/** Who follows: places are kept where they are, out of the leader's zone when there is another, and evened out between the nodes. */

import type { NodeId } from '@engine/domain';

import type { Availability, PlacementInput } from './placement-input.js';
import type { Rendezvous } from './rendezvous.js';

const KEEPS_PLACES: readonly Availability[] = ['ready', 'leaving', 'absent'];

/** Standbys of each partition, for these leaders. */
export function placeStandbys(
  input: PlacementInput,
  leaders: readonly (NodeId | undefined)[],
  rendezvous: Rendezvous,
): readonly (readonly NodeId[])[] {
  const draft = new StandbyDraft(input, leaders, rendezvous);
  draft.keep();
  draft.fill();
  draft.even();
  return draft.standbys;
}

class StandbyDraft {
  readonly standbys: NodeId[][];
  readonly #input: PlacementInput;
  readonly #leaders: readonly (NodeId | undefined)[];
  readonly #rendezvous: Rendezvous;
  readonly #zones: ReadonlyMap<NodeId, string>;
  readonly #ready: readonly NodeId[];
  readonly #keepers: ReadonlySet<NodeId>;
  /** Places of each ready node. */
  readonly #places: Map<NodeId, number>;

  constructor(
    input: PlacementInput,
    leaders: readonly (NodeId | undefined)[],
    rendezvous: Rendezvous,
  ) {
    this.#input = input;
    this.#leaders = leaders;
    this.#rendezvous = rendezvous;
    // Names of zones and of nodes cannot meet: the one kind has the slash.
    this.#zones = new Map(input.nodes.map(({ id, zone }) => [id, zone ?? `/${id}`]));
    const having = (wanted: readonly Availability[]): NodeId[] =>
      input.nodes.filter((node) => wanted.includes(node.availability)).map(({ id }) => id);
    this.#ready = having(['ready']).sort();
    this.#keepers = new Set(having(KEEPS_PLACES));
    this.#places = new Map(this.#ready.map((id) => [id, 0]));
    this.standbys = leaders.map(() => []);
  }

  /** Takes over the places that still stand. A leader that was replaced has the data, so it stays as a standby. */
  keep(): void {
    for (const [partition, leader] of this.#leaders.entries()) {
      const before = this.#input.table?.partitions[partition];
      const seated = [before?.leader, ...(before?.standbys ?? [])].filter(
        (id): id is NodeId => id !== undefined && id !== leader && this.#mayKeep(partition, id),
      );
      const kept = this.standbys[partition] ?? [];
      for (const id of this.#spreadFirst(partition, seated)) {
        if (kept.length >= this.#input.standbyCount) break;
        if (!this.#isNewZone(partition, id) && this.#betterZoneExists(partition)) continue;
        this.#seat(partition, id);
      }
    }
  }

  fill(): void {
    for (const [partition, standbys] of this.standbys.entries()) {
      if (this.#leaders[partition] === undefined) continue;
      while (standbys.length < this.#input.standbyCount) {
        const best = this.#best(partition);
        if (best === undefined) break;
        this.#seat(partition, best);
      }
    }
  }

  /** Moves places from the fullest to the emptiest nodes while that makes no partition sit in fewer zones. */
  even(): void {
    while (this.#evenOnce()) continue;
  }

  #evenOnce(): boolean {
    const byPlaces = this.#ready.toSorted((a, b) => this.#count(b) - this.#count(a));
    for (const from of byPlaces) {
      for (const to of byPlaces.toReversed()) {
        if (this.#count(from) - this.#count(to) < 2) break;
        const partition = this.standbys.findIndex((_, id) => this.#canPass(id, from, to));
        if (partition < 0) continue;
        this.#unseat(partition, from);
        this.#seat(partition, to);
        return true;
      }
    }
    return false;
  }

  #canPass(partition: number, from: NodeId, to: NodeId): boolean {
    const standbys = this.standbys[partition] ?? [];
    if (!standbys.includes(from) || !this.#maySit(partition, to)) return false;
    const others = standbys.filter((id) => id !== from);
    const zones = (id: NodeId): number => this.#zoneCount([...others, id], partition);
    return zones(to) >= zones(from);
  }

  #best(partition: number): NodeId | undefined {
    const free = this.#ready.filter((id) => this.#maySit(partition, id));
    const rank = (id: NodeId): number => (this.#isNewZone(partition, id) ? 0 : 1);
    return free.toSorted((a, b) => {
      if (rank(a) !== rank(b)) return rank(a) - rank(b);
      if (this.#count(a) !== this.#count(b)) return this.#count(a) - this.#count(b);
      return this.#rendezvous.compare(partition, a, b);
    })[0];
  }

  /** Those in other zones than the leader first, then those who live, then as they were. */
  #spreadFirst(partition: number, seated: readonly NodeId[]): readonly NodeId[] {
    const rank = (id: NodeId): number =>
      (this.#isNewZone(partition, id) ? 0 : 2) + (this.#places.has(id) ? 0 : 1);
    return [...new Set(seated)].sort((a, b) => rank(a) - rank(b));
  }

  #betterZoneExists(partition: number): boolean {
    return this.#ready.some((id) => this.#maySit(partition, id) && this.#isNewZone(partition, id));
  }

  #isNewZone(partition: number, id: NodeId): boolean {
    return this.#taken(partition).every((other) => this.#zoneOf(other) !== this.#zoneOf(id));
  }

  #zoneCount(standbys: readonly NodeId[], partition: number): number {
    const leader = this.#leaders[partition];
    const all = leader === undefined ? standbys : [leader, ...standbys];
    return new Set(all.map((id) => this.#zoneOf(id))).size;
  }

  #zoneOf(id: NodeId): string {
    return this.#zones.get(id) ?? `/${id}`;
  }

  #taken(partition: number): readonly NodeId[] {
    const leader = this.#leaders[partition];
    const standbys = this.standbys[partition] ?? [];
    return leader === undefined ? standbys : [leader, ...standbys];
  }

  #maySit(partition: number, id: NodeId): boolean {
    return !this.#taken(partition).includes(id) && !this.#input.isUnfit(partition, id);
  }

  #mayKeep(partition: number, id: NodeId): boolean {
    return this.#keepers.has(id) && !this.#input.isUnfit(partition, id);
  }

  #seat(partition: number, id: NodeId): void {
    this.standbys[partition]?.push(id);
    if (this.#places.has(id)) this.#places.set(id, this.#count(id) + 1);
  }

  #unseat(partition: number, id: NodeId): void {
    const standbys = this.standbys[partition] ?? [];
    standbys.splice(standbys.indexOf(id), 1);
    this.#places.set(id, this.#count(id) - 1);
  }

  #count(id: NodeId): number {
    return this.#places.get(id) ?? 0;
  }
}
