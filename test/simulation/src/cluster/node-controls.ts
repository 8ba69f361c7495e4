/** The ways of one process to the other nodes: `NodeControl` over the simulated network, and probes of their ports. */

import { EngineError } from '@engine/domain';
import type { NodeControl } from '@engine/wire';

import type { Links, Station } from './links.js';

/** A node that can be asked, while its process listens. */
export interface ControlStation extends Station {
  readonly control: NodeControl | undefined;
}

export interface NodeControlsDependencies {
  readonly links: Links;
  readonly from: Station;
  readonly node: (address: string) => ControlStation | undefined;
}

/** What a probe of a port finds. */
export type Probe = (address: string) => Promise<'reached' | 'refused' | 'silent'>;

/** Deadlines of the calls, ms, as packages/rpc has them. */
const CALL_MS_MAX = 5_000;
const STOP_LEADING_MS_MAX = 30_000;
const PROBE_MS_MAX = 900;

export class NodeControls {
  readonly #dependencies: NodeControlsDependencies;

  constructor(dependencies: NodeControlsDependencies) {
    this.#dependencies = dependencies;
  }

  readonly control = (address: string): NodeControl => ({
    reports: () => this.#ask(address, CALL_MS_MAX, (node) => node.reports()),
    applied: (partition) => this.#ask(address, CALL_MS_MAX, (node) => node.applied(partition)),
    stopLeading: (partition, epoch) =>
      this.#ask(address, STOP_LEADING_MS_MAX, (node) => node.stopLeading(partition, epoch)),
  });

  /** Whether anybody listens: a frozen process still does, its machine answers for it. */
  readonly probe: Probe = async (address) => {
    const { links, from, node } = this.#dependencies;
    const process = from.process;
    const station = node(address);
    await process?.turn(links.delay());
    if (station === undefined || links.isCut(from.id, address)) {
      await process?.turn(PROBE_MS_MAX);
      return 'silent';
    }
    return station.process === undefined ? 'refused' : 'reached';
  };

  #ask<T>(
    address: string,
    limitMs: number,
    question: (node: NodeControl) => Promise<T>,
  ): Promise<T> {
    const { links, from, node } = this.#dependencies;
    const to = node(address);
    const unavailable = new EngineError('unavailable', `nobody listens at ${address}`);
    if (to === undefined) return Promise.reject(unavailable);
    const ask = async (): Promise<T> => {
      if (to.control === undefined) throw unavailable;
      return question(to.control);
    };
    return links.ask({ from, to, limitMs, ask });
  }
}
