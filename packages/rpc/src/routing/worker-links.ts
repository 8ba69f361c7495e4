/** The ways to other workers, one of each kind and address, made when first needed and closed when the table names the worker no more. */

import type { MessageAck } from '@engine/wire';

import { RemoteChannel } from '../client/remote-channel.js';
import { RemotePeer } from '../client/remote-peer.js';
import { RemoteScans } from '../client/remote-scans.js';
import type { LinkDependencies } from '../client/stream-link.js';
import { Ways } from './ways.js';

export interface WorkerLinksOptions {
  /** Largest message between nodes, the same in all of them. */
  readonly messageBytesMax: number;
}

export class WorkerLinks {
  readonly #channels: Ways<RemoteChannel>;
  readonly #peers: Ways<RemotePeer>;
  readonly #scans: Ways<RemoteScans>;
  readonly #onChange = new Set<() => void>();
  #acknowledge: (ack: MessageAck) => void = () => undefined;
  #isStopped = false;

  constructor({ messageBytesMax }: WorkerLinksOptions, dependencies: LinkDependencies) {
    const opened = (): void => {
      for (const onOpen of [...this.#onChange]) onOpen();
    };
    this.#channels = new Ways((address) => {
      const channel = new RemoteChannel({ address, messageBytesMax, onOpen: opened }, dependencies);
      if (!this.#isStopped) channel.start();
      return channel;
    });
    this.#peers = new Ways((address) => {
      const acknowledge = (ack: MessageAck): void => {
        this.#acknowledge(ack);
      };
      const peer = new RemotePeer({ address, messageBytesMax, acknowledge }, dependencies);
      if (!this.#isStopped) peer.start();
      return peer;
    });
    this.#scans = new Ways((address) => new RemoteScans(address, dependencies));
  }

  channel(address: string): RemoteChannel {
    return this.#channels.to(address);
  }

  peer(address: string): RemotePeer {
    return this.#peers.to(address);
  }

  scans(address: string): RemoteScans {
    return this.#scans.to(address);
  }

  /** `onOpen` is called whenever a channel has opened. */
  watch(onOpen: () => void): { cancel(): void } {
    this.#onChange.add(onOpen);
    return { cancel: () => this.#onChange.delete(onOpen) };
  }

  /** Who takes acknowledgements that other workers send back. */
  onAcknowledge(acknowledge: (ack: MessageAck) => void): void {
    this.#acknowledge = acknowledge;
  }

  /** Closes the ways to everybody else: requests that wait there are answered `disconnected`. */
  keep(addresses: ReadonlySet<string>): void {
    this.#channels.keep(addresses);
    this.#peers.keep(addresses);
    this.#scans.keep(addresses);
  }

  stop(): void {
    this.#isStopped = true;
    this.keep(new Set());
  }
}
