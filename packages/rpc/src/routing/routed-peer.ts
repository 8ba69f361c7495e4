/** The way from the partitions of this worker to all others: a call where both are led here, a stream where they are not. */

import type { Service } from '@engine/runtime';
import type { MessageAck, MessageBatch, PartitionPeer } from '@engine/wire';

import type { AckSink } from '../server/ack-return.js';
import { workerAddresses, type LeaderDirectory } from './leader-directory.js';

/** The ways to other workers: `WorkerLinks`, or a twin of it. */
export interface PeerLinks {
  peer(address: string): Pick<PartitionPeer, 'deliver'>;
  /** Closes the ways to everybody else. */
  keep(addresses: ReadonlySet<string>): void;
  /** Who takes acknowledgements that other workers send back. */
  onAcknowledge(acknowledge: (ack: MessageAck) => void): void;
}

export interface RoutedPeerDependencies {
  readonly directory: LeaderDirectory;
  readonly links: PeerLinks;
  readonly nodeId: string;
  /** The worker of this process; asked for late, because it is made with this peer. */
  readonly local: () => PartitionPeer;
  /** How acknowledgements get back to other workers. */
  readonly acks: AckSink;
}

export class RoutedPeer implements PartitionPeer, Service {
  readonly #dependencies: RoutedPeerDependencies;
  #watch: { cancel(): void } | undefined;

  constructor(dependencies: RoutedPeerDependencies) {
    this.#dependencies = dependencies;
    dependencies.links.onAcknowledge((ack) => {
      dependencies.local().acknowledge(ack);
    });
  }

  /** Begins to connect to every other worker of the table, so that the first message finds a way. */
  start(): Promise<void> {
    this.#watch = this.#dependencies.directory.watch(this.#connect);
    this.#connect();
    return Promise.resolve();
  }

  /** Dropped while nobody leads the destination, or the way there is broken: the sender sends again. */
  deliver(batch: MessageBatch): void {
    const { directory, links, nodeId, local } = this.#dependencies;
    const leader = directory.current.leaderOf(batch.destination);
    if (leader === undefined) return;
    if (leader.nodeId === nodeId) local().deliver(batch);
    else links.peer(leader.address).deliver(batch);
  }

  acknowledge(ack: MessageAck): void {
    const { directory, nodeId, local, acks } = this.#dependencies;
    if (directory.current.leaderOf(ack.sender)?.nodeId === nodeId) local().acknowledge(ack);
    else acks.acknowledge(ack);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#watch?.cancel();
    return Promise.resolve();
  }

  readonly #connect = (): void => {
    const { directory, links, nodeId } = this.#dependencies;
    const addresses = workerAddresses(directory.current, nodeId);
    links.keep(addresses);
    for (const address of addresses) links.peer(address);
  };
}
