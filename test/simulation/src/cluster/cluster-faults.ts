/** Faults of a cluster at random: each begins at some moment and ends by itself, or when everything is mended. */

import type { SimulatedStream } from '@engine/nats/contract';

import type { Chance } from '../simulator/chance.js';
import type { EventLoop } from '../simulator/event-loop.js';
import type { ClusterWorld } from './cluster-world.js';
import { DOCUMENTS } from './documents.js';
import { LOG_SERVERS } from './log-servers.js';
import type { SimNode } from './sim-node.js';

/** How often each kind comes, beside the others. */
const WEIGHTS = {
  kill: 4,
  'kill-at-a-step': 4,
  'power-cut': 2,
  freeze: 3,
  leave: 2,
  'cut-documents': 2,
  'cut-logs': 2,
  'cut-nodes': 2,
  'no-documents': 1,
  'slow-documents': 1,
  'no-logs': 1,
  'log-leader': 2,
  phantom: 1,
} as const;

type Fault = keyof typeof WEIGHTS;

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
  #isOver = false;

  constructor(world: ClusterWorld, loop: EventLoop, chance: Chance) {
    this.#world = world;
    this.#loop = loop;
    this.#chance = chance;
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
    const { strikeEveryMs } = this.#world.shape;
    if (strikeEveryMs === 0) return;
    // Times between strikes have no memory.
    this.#later(-Math.log(1 - this.#chance.float()) * strikeEveryMs, () => {
      this.#strike();
      this.#planStrike();
    });
  }

  #planSnapshot(): void {
    const { snapshotEveryMs } = this.#world.shape;
    if (snapshotEveryMs === 0) return;
    this.#later(this.#chance.between(1, snapshotEveryMs * 2), () => {
      const node = this.#chance.pick(this.#world.workers);
      const partition = this.#chance.pick(this.#world.picture.partitions);
      // Whatever breaks one off, a later one does.
      node.snapshot(partition).catch(() => undefined);
      this.#planSnapshot();
    });
  }

  #strike(): void {
    const fault = this.#chance.weighted<Fault>(WEIGHTS);
    const lastingMs = this.#chance.happens(0.6)
      ? this.#chance.between(50, 3_000)
      : this.#chance.between(3_000, 30_000);
    // Workers are where most can go wrong.
    const { workers, nodes } = this.#world;
    const node = this.#chance.pick<SimNode>(this.#chance.happens(0.7) ? workers : nodes);
    const worker = this.#chance.pick(workers);
    const partition = this.#chance.pick(this.#world.picture.partitions);
    const stream = this.#world.servers.stream(partition);
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
      case 'no-documents':
        this.#world.note('nobody gives out documents');
        this.#world.documents.isUp = false;
        this.#later(Math.min(lastingMs, 20_000), () => {
          this.#world.documents.isUp = true;
        });
        return;
      case 'slow-documents':
        this.#world.slowDocuments(this.#chance.between(300, 3_000));
        this.#later(lastingMs, () => {
          this.#world.slowDocuments(60);
        });
        return;
      case 'no-logs':
        this.#world.note('nobody takes records');
        this.#world.servers.isUp = false;
        this.#later(Math.min(lastingMs, 10_000), () => {
          this.#world.servers.isUp = true;
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

  #cut([a, b]: readonly [string, string], ms: number): void {
    this.#world.note(`${a} and ${b} are cut`);
    this.#world.links.cut(a, b);
    this.#later(ms, () => {
      this.#world.note(`${a} and ${b} are mended`);
      this.#world.links.mend(a, b);
    });
  }

  #later(ms: number, fn: () => void): void {
    this.#loop.after(ms, () => {
      if (!this.#isOver) fn();
    });
  }
}
