/** Messages between partitions and their acknowledgements. */

import { toPartitionId } from '@engine/domain';

import type * as gen from '../gen/engine/worker/v1/worker.js';
import type { MessageAck, MessageBatch } from '../services/partition-peer.js';
import { messageFromWire, messageToWire } from '../store/message.js';

export function messageBatchToWire(batch: MessageBatch): gen.MessageBatch {
  return {
    sender: batch.sender,
    destination: batch.destination,
    first: batch.first,
    messages: batch.messages.map(messageToWire),
  };
}

export function messageBatchFromWire(message: gen.MessageBatch): MessageBatch {
  return {
    sender: toPartitionId(message.sender),
    destination: toPartitionId(message.destination),
    first: message.first,
    messages: message.messages.map(messageFromWire),
  };
}

export function messageAckToWire(ack: MessageAck): gen.MessageAck {
  return ack;
}

export function messageAckFromWire(message: gen.MessageAck): MessageAck {
  return {
    sender: toPartitionId(message.sender),
    destination: toPartitionId(message.destination),
    upTo: message.upTo,
  };
}
