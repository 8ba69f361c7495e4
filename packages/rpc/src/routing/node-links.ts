/** The ways to the workers' control services, by address. */

import type { NodeControl, SchemaFollower } from '@engine/wire';

import { RemoteNode } from '../client/remote-node.js';
import type { UnaryDependencies } from '../client/unary-caller.js';
import { Ways } from './ways.js';

export class NodeLinks {
  readonly #ways: Ways<RemoteNode>;
  #isStopped = false;

  constructor(dependencies: UnaryDependencies) {
    this.#ways = new Ways((address) => {
      const node = new RemoteNode(address, dependencies);
      if (this.#isStopped) node.stop();
      return node;
    });
  }

  /** `address`: `host:port`. Nothing is sent before the first call. Ask anew for each call: one that `keep` closed stays closed. */
  readonly control = (address: string): NodeControl & SchemaFollower => this.#ways.to(address);

  /** Closes the ways to everybody else: calls that wait there are rejected as `unavailable`. */
  keep(addresses: ReadonlySet<string>): void {
    this.#ways.keep(addresses);
  }

  /** Closes all ways; later calls are rejected as `unavailable`. */
  stop(): void {
    this.#isStopped = true;
    this.keep(new Set());
  }
}
