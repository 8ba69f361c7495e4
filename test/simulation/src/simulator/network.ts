/** The way between partitions: messages and acknowledgements are delayed, lost, repeated and overtake each other. */

import type { MessageAck, MessageBatch, PartitionPeer } from '@engine/wire';

import type { Chance } from './chance.js';
import type { EventLoop } from './event-loop.js';

export interface NetworkFaults {
  /** Share of what is sent that never arrives. */
  loss: number;
  /** Share that arrives a second time. */
  repetition: number;
  /** Typical and longest way, ms. */
  delayMs: number;
  delayMsMax: number;
}

export class SimNetwork {
  readonly #loop: EventLoop;
  readonly #chance: Chance;
  readonly #faults: NetworkFaults;
  readonly #receiver: () => PartitionPeer | undefined;

  /** `receiver` is whoever listens at the moment of arrival; undefined while nobody does. */
  constructor(dependencies: {
    readonly loop: EventLoop;
    readonly chance: Chance;
    readonly faults: NetworkFaults;
    readonly receiver: () => PartitionPeer | undefined;
  }) {
    this.#loop = dependencies.loop;
    this.#chance = dependencies.chance;
    this.#faults = dependencies.faults;
    this.#receiver = dependencies.receiver;
  }

  deliver(batch: MessageBatch): void {
    this.#carry((peer) => {
      peer.deliver(batch);
    });
  }

  acknowledge(ack: MessageAck): void {
    this.#carry((peer) => {
      peer.acknowledge(ack);
    });
  }

  #carry(arrive: (peer: PartitionPeer) => void): void {
    const { loss, repetition } = this.#faults;
    const isLost = this.#chance.happens(loss);
    if (!isLost) this.#arriveLater(arrive);
    if (this.#chance.happens(repetition)) this.#arriveLater(arrive);
  }

  #arriveLater(arrive: (peer: PartitionPeer) => void): void {
    const { delayMs, delayMsMax } = this.#faults;
    this.#loop.after(this.#chance.delay(delayMs, delayMsMax), () => {
      const peer = this.#receiver();
      if (peer !== undefined) arrive(peer);
    });
  }
}
