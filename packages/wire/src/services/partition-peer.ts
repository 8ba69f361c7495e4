import type { PartitionId, PartitionMessage } from '@engine/domain';

/** Messages of one sender to one destination, numbered from `first` on without a gap. */
export interface MessageBatch {
  readonly sender: PartitionId;
  readonly destination: PartitionId;
  readonly first: number;
  readonly messages: readonly PartitionMessage[];
}

/** All messages of `sender` up to and including `upTo` are durable at `destination`. */
export interface MessageAck {
  readonly sender: PartitionId;
  readonly destination: PartitionId;
  readonly upTo: number;
}

/**
 * The way from partition to partition. Nothing is promised: what is not acknowledged is sent again, what arrives twice is
 * dropped by its number.
 */
export interface PartitionPeer {
  /** Hands messages to the leader of `batch.destination`. */
  deliver(batch: MessageBatch): void;
  /** Hands an acknowledgement back to the leader of `ack.sender`. */
  acknowledge(ack: MessageAck): void;
}
