/** One stream of messages from another worker's partitions, and the acknowledgements that go back. */

import { EngineError } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import {
  messageAckToWire,
  messageBatchFromWire,
  type MessageAck,
  type PartitionPeer,
  type wire,
} from '@engine/wire';
import type { ServerDuplexStream } from '@grpc/grpc-js';

import { onHandlerFailed } from '../events.js';
import { Outgoing } from '../outgoing.js';
import { toStatus } from '../status.js';
import type { AckReturn, AckSink } from './ack-return.js';

export type DeliverStream = ServerDuplexStream<wire.MessageBatches, wire.MessageAcks>;

export interface DeliverDependencies {
  readonly peer: Pick<PartitionPeer, 'deliver'>;
  readonly acks: AckReturn;
  readonly scheduler: Scheduler;
}

/** About what an acknowledgement takes. */
const ACK_BYTES = 24;

export class DeliverCall implements AckSink {
  readonly #stream: DeliverStream;
  readonly #dependencies: DeliverDependencies;
  readonly #outgoing: Outgoing<MessageAck>;
  /** Of this turn; of two for the same pair only the later one says anything. */
  readonly #latest = new Map<string, MessageAck>();
  #isOver = false;

  constructor(stream: DeliverStream, dependencies: DeliverDependencies) {
    this.#stream = stream;
    this.#dependencies = dependencies;
    this.#outgoing = new Outgoing(dependencies.scheduler, (acks, taken) => {
      if (this.#isOver || acks.length === 0) return;
      this.#stream.write({ acks: acks.map(messageAckToWire) }, taken);
    });
  }

  serve(): void {
    const over = (): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#outgoing.clear();
      this.#latest.clear();
      this.#dependencies.acks.forget(this);
    };
    this.#stream.on('data', this.#receive);
    this.#stream.on('cancelled', over);
    this.#stream.on('error', over);
    this.#stream.on('close', over);
    this.#stream.on('end', () => {
      over();
      this.#stream.end();
    });
  }

  acknowledge(ack: MessageAck): void {
    if (this.#isOver) return;
    if (this.#latest.size === 0) this.#dependencies.scheduler.immediate(this.#release);
    this.#latest.set(`${String(ack.sender)} ${String(ack.destination)}`, ack);
  }

  readonly #release = (): void => {
    // One without room is lost, and the sender asks by sending again.
    for (const ack of this.#latest.values()) this.#outgoing.offer(ack, ACK_BYTES);
    this.#latest.clear();
  };

  readonly #receive = ({ batches }: wire.MessageBatches): void => {
    const { acks, peer } = this.#dependencies;
    try {
      for (const message of batches) {
        const batch = messageBatchFromWire(message);
        acks.note(batch.sender, this);
        peer.deliver(batch);
      }
    } catch (error) {
      onHandlerFailed('deliver', error);
      const cause = new EngineError('internal', 'messages could not be handed on', {
        cause: error,
      });
      this.#stream.emit('error', toStatus(cause));
    }
  };
}
