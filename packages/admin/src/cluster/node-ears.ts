/** What an admin hears of the workers themselves: their reports, and whether anybody listens where they should be. */

import type { ControllerInput } from '@engine/cluster';
import type { ClusterNode, NodeId } from '@engine/domain';
import type { Cancellable, Clock, Scheduler } from '@engine/runtime';
import type { NodeControl } from '@engine/wire';

import type { Probe } from './tcp-probe.js';

const BEAT_MS = 250;
const REPORTS_INTERVAL_MS = 500;
const PROBE_INTERVAL_MS = 1_000;

/** A node that refused is probed sooner again, so that its death is sure as early as the rules allow. */
const REFUSED_PROBE_INTERVAL_MS = 250;

export interface NodeEarsDependencies {
  readonly self: NodeId;
  /** Undefined: nobody knows the way to the node. */
  readonly control: (node: NodeId) => NodeControl | undefined;
  readonly probe: Probe;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly tell: (input: ControllerInput) => void;
}

interface Ear {
  readonly node: ClusterNode;
  /** When to ask next; Infinity while an answer is awaited. */
  reportsAt: number;
  probeAt: number;
}

export class NodeEars implements Disposable {
  readonly #dependencies: NodeEarsDependencies;
  #ears: readonly Ear[] = [];
  #timer: Cancellable | undefined;
  #isStopped = false;

  constructor(dependencies: NodeEarsDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#beat();
  }

  /** The workers to listen to. What is awaited of one that started anew or moved is not told. */
  setNodes(nodes: readonly ClusterNode[]): void {
    const known = new Map(this.#ears.map((ear) => [ear.node.id, ear]));
    this.#ears = nodes
      .filter(({ roles }) => roles.includes('worker'))
      .map((node) => {
        const ear = known.get(node.id);
        return ear !== undefined && isSameLife(ear.node, node)
          ? ear
          : { node, reportsAt: -Infinity, probeAt: -Infinity };
      });
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #beat(): void {
    const now = this.#dependencies.clock.monotonic();
    for (const ear of this.#ears) {
      if (now >= ear.reportsAt) void this.#askReports(ear, now);
      if (now >= ear.probeAt) void this.#probe(ear, now);
    }
    this.#timer = this.#dependencies.scheduler.after(BEAT_MS, () => {
      this.#beat();
    });
  }

  async #askReports(ear: Ear, now: number): Promise<void> {
    const { id } = ear.node;
    ear.reportsAt = Infinity;
    // Why it does not answer is none of our business: its lease and the probes tell whether it lives.
    const reports = await this.#dependencies
      .control(id)
      ?.reports()
      .catch(() => undefined);
    if (reports !== undefined) this.#tell(ear, { kind: 'reports', node: id, reports });
    ear.reportsAt = now + REPORTS_INTERVAL_MS;
  }

  async #probe(ear: Ear, now: number): Promise<void> {
    const { id, addresses } = ear.node;
    if (id === this.#dependencies.self) return;
    ear.probeAt = Infinity;
    const outcome = await this.#dependencies.probe(addresses.internal);
    if (outcome !== 'silent') this.#tell(ear, { kind: outcome, node: id });
    ear.probeAt = now + (outcome === 'refused' ? REFUSED_PROBE_INTERVAL_MS : PROBE_INTERVAL_MS);
  }

  #tell(ear: Ear, input: ControllerInput): void {
    if (!this.#isStopped && this.#ears.includes(ear)) this.#dependencies.tell(input);
  }
}

function isSameLife(a: ClusterNode, b: ClusterNode): boolean {
  return a.incarnation === b.incarnation && a.addresses.internal === b.addresses.internal;
}
