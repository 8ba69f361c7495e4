/** The other nodes, by what their documents say where they are. */

import type { NodeId } from '@engine/domain';
import type { NodeControl, NodePeers } from '@engine/wire';

import type { ClusterView } from './cluster-view.js';

export interface MemberPeersOptions {
  /** This node, which is no peer of itself. */
  readonly self: NodeId;
}

export interface MemberPeersDependencies {
  readonly view: ClusterView;
  /** The way to the node at `host:port`, asked anew each time: whoever makes ways keeps them. */
  readonly controlAt: (address: string) => NodeControl;
}

export class MemberPeers implements NodePeers {
  readonly #self: NodeId;
  readonly #dependencies: MemberPeersDependencies;

  constructor({ self }: MemberPeersOptions, dependencies: MemberPeersDependencies) {
    this.#self = self;
    this.#dependencies = dependencies;
  }

  get workers(): readonly NodeId[] {
    return this.#dependencies.view.nodes
      .filter(({ id, roles }) => id !== this.#self && roles.includes('worker'))
      .map(({ id }) => id);
  }

  control(node: NodeId): NodeControl | undefined {
    const address = this.#dependencies.view.node(node)?.addresses.internal;
    if (address === undefined) return undefined;
    return this.#dependencies.controlAt(address);
  }
}
