/** Acknowledgements go back over the stream on which the sender's messages last came. One that finds none is lost, as it may be. */

import type { PartitionId } from '@engine/domain';
import type { MessageAck } from '@engine/wire';

export interface AckSink {
  acknowledge(ack: MessageAck): void;
}

export class AckReturn implements AckSink {
  readonly #ways = new Map<PartitionId, AckSink>();

  acknowledge(ack: MessageAck): void {
    this.#ways.get(ack.sender)?.acknowledge(ack);
  }

  /** Messages of `sender` came over `way`. */
  note(sender: PartitionId, way: AckSink): void {
    this.#ways.set(sender, way);
  }

  forget(way: AckSink): void {
    for (const [sender, known] of this.#ways) if (known === way) this.#ways.delete(sender);
  }
}
