/** Faults of a cluster at random: each begins at some moment and ends by itself, or when everything is mended. */

import type { SimulatedStream } from '@engine/nats/contract';

import type { Chance } from '../simulator/chance.js';
import type { EventLoop } from '../simulator/event-loop.js';
import type { ClusterWorld } from './cluster-world.js';
import { DOCUMENTS } from './documents.js';
import { LOG_SERVERS } from './log-servers.js';
import type { SimNode } from './sim-node.js';

/** How often each kind comes, beside the others, unless the plan says otherwise. */
const WEIGHTS = {
  kill: 4,
  'kill-at-a-step': 4,
  'power-cut': 2,
  'disk-fails': 1,
  'new-disk': 1,
  freeze: 3,
  leave: 2,
  'cut-documents': 2,
  'cut-logs': 2,
  'cut-nodes': 2,
  island: 2,
  'no-documents': 1,
  'slow-documents': 1,
  'no-logs': 1,
  'no-snapshots': 1,
  'log-leader': 2,
  phantom: 1,
} as const;

type Fault = keyof typeof WEIGHTS;

/** How often strikes of each kind come; without any, all of them come. */
export type StrikeWeights = Readonly<Partial<Record<Fault, number>>>;

export const STRIKES: ReadonlySet<string> = new Set(Object.keys(WEIGHTS));

/** Steps outward after which a crash may come that was announced. */
const STEPS_MAX = 60;

/** A node that leaves gets so long to hand over. */
const LEAVE_MS = 20_000;

export class ClusterFaults {
  readonly #world: ClusterWorld;
  readonly #loop: EventLoop;
  readonly #chance: Chance;
  /** Streams with a proposal that only a change of their leader drops. */
  readonly #stuck = new Set<SimulatedStream>();
  readonly #weights: StrikeWeights;
  #isOver = false;

  constructor(
    weights: StrikeWeights,
    dependencies: {
      readonly world: ClusterWorld;
      readonly loop: EventLoop;
      readonly chance: Chance;
    },
  ) {
    this.#weights = Object.keys(weights).length === 0 ? WEIGHTS : weights;
    this.#world = dependencies.world;
    this.#loop = dependencies.loop;
    this.#chance = dependencies.chance;
  }

  begin(): void {
    this.#planStrike();
    this.#planSnapshot();
  }

  /** Effects: everything is mended. */
  end(): void {
    this.#isOver = true;
    for (const stream of this.#stuck) stream.changeLeader();
    this.#world.heal();
  }

  #planStrike(): void {
    const { strikeEveryMs } = this.#world.surroundings.shape;
    if (strikeEveryMs === 0) return;
    // Times between strikes have no memory.
    this.#later(-Math.log(1 - this.#chance.float()) * strikeEveryMs, () => {
      this.#strike();
      this.#planStrike();
    });
  }

  #planSnapshot(): void {
    const { snapshotEveryMs } = this.#world.surroundings.shape;
    if (snapshotEveryMs === 0) return;
    this.#later(this.#chance.between(1, snapshotEveryMs * 2), () => {
      const node = this.#chance.pick(this.#world.workers);
      const partition = this.#chance.pick(this.#world.surroundings.partitions);
      // Whatever breaks one off, a later one does.
      node.snapshot(partition).catch(() => undefined);
      this.#planSnapshot();
    });
  }

  #strike(): void {
    const fault = this.#chance.weighted<Fault>(this.#weights);
    const lastingMs = this.#chance.happens(0.6)
      ? this.#chance.between(50, 3_000)
      : this.#chance.between(3_000, 30_000);
    // Workers are where most can go wrong.
    const { workers, nodes } = this.#world;
    const node = this.#chance.pick<SimNode>(this.#chance.happens(0.7) ? workers : nodes);
    const worker = this.#chance.pick(workers);
    const partition = this.#chance.pick(this.#world.surroundings.partitions);
    const stream = this.#world.surroundings.servers.stream(partition);
    switch (fault) {
      case 'kill':
        node.kill('killed');
        return;
      case 'kill-at-a-step':
        node.process?.crashAfterSteps(this.#chance.between(1, STEPS_MAX));
        return;
      case 'power-cut':
        worker.cutPower();
        return;
      case 'disk-fails':
        if (!worker.isUp) return;
        this.#world.note(`the disk of ${worker.id} fails`);
        worker.disk.fail();
        this.#loop.after(lastingMs / 2, () => {
          worker.kill('its disk has failed');
        });
        return;
      case 'new-disk':
        worker.kill('it gets a new disk');
        worker.disk.wipe();
        return;
      case 'freeze':
        this.#world.freeze(node);
        this.#later(lastingMs, () => {
          node.thaw();
        });
        return;
      case 'leave':
        worker.leave(LEAVE_MS).catch(() => undefined);
        return;
      case 'cut-documents':
        this.#cut([node.id, DOCUMENTS], lastingMs);
        return;
      case 'cut-logs':
        this.#cut([worker.id, LOG_SERVERS], lastingMs);
        return;
      case 'cut-nodes':
        if (node.id !== worker.id) this.#cut([node.id, worker.id], lastingMs);
        return;
      case 'island':
        this.#isolate(worker, this.#chance.between(10_000, 35_000));
        return;
      case 'no-documents':
        this.#world.note('nobody gives out documents');
        this.#world.surroundings.documents.isUp = false;
        this.#later(Math.min(lastingMs, 20_000), () => {
          this.#world.surroundings.documents.isUp = true;
        });
        return;
      case 'slow-documents':
        this.#world.surroundings.slowDocuments(this.#chance.between(300, 3_000));
        this.#later(lastingMs, () => {
          this.#world.surroundings.slowDocuments();
        });
        return;
      case 'no-logs':
        this.#world.note('nobody takes records');
        this.#world.surroundings.servers.isUp = false;
        this.#later(Math.min(lastingMs, 10_000), () => {
          this.#world.surroundings.servers.isUp = true;
        });
        return;
      case 'no-snapshots':
        this.#world.surroundings.snapshots.isUp = false;
        this.#later(lastingMs, () => {
          this.#world.surroundings.snapshots.isUp = true;
        });
        return;
      case 'log-leader':
        this.#world.note(`the stream of ${String(partition)} changes its leader`);
        stream.changeLeader();
        return;
      case 'phantom':
        this.#world.note(`a phantom in the stream of ${String(partition)}`);
        stream.proposePhantom();
        this.#stuck.add(stream);
        this.#later(this.#chance.between(500, 4_000), () => {
          this.#stuck.delete(stream);
          stream.changeLeader();
        });
        return;
    }
  }

  /** A worker and an ingress see each other and the logs, and nobody else. */
  #isolate(worker: SimNode, ms: number): void {
    const { nodes, ingresses } = this.#world;
    const island = [worker, this.#chance.pick(ingresses)];
    for (const inside of island) {
      this.#cut([inside.id, DOCUMENTS], ms);
      for (const outside of nodes) {
        if (!island.includes(outside)) this.#cut([inside.id, outside.id], ms);
      }
    }
  }

  #cut([a, b]: readonly [string, string], ms: number): void {
    this.#world.note(`${a} and ${b} are cut`);
    this.#world.surroundings.links.cut(a, b);
    this.#later(ms, () => {
      this.#world.note(`${a} and ${b} are mended`);
      this.#world.surroundings.links.mend(a, b);
    });
  }

  #later(ms: number, fn: () => void): void {
    this.#loop.after(ms, () => {
      if (!this.#isOver) fn();
    });
  }
}
