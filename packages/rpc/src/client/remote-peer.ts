/** The way of messages to the partitions of one other worker. What has no room, or no stream, is dropped: its sender has it. */

import {
  messageAckFromWire,
  messageBatchToWire,
  type MessageAck,
  type MessageBatch,
  type wire,
} from '@engine/wire';

import { onHandlerFailed, onOverflow, onTooLarge } from '../events.js';
import { BATCH_BYTES_MAX } from '../limits.js';
import { DELIVER } from '../methods.js';
import { Outgoing } from '../outgoing.js';
import { weightOfMessage } from '../weights.js';
import { StreamLink, type LinkDependencies } from './stream-link.js';

export interface RemotePeerOptions {
  readonly address: string;
  /** Largest message between nodes. */
  readonly messageBytesMax: number;
  /** For acknowledgements that come back. */
  readonly acknowledge: (ack: MessageAck) => void;
}

export class RemotePeer {
  readonly #options: RemotePeerOptions;
  readonly #link: StreamLink<wire.MessageBatches, wire.MessageAcks>;
  readonly #outgoing: Outgoing<MessageBatch>;

  constructor(options: RemotePeerOptions, dependencies: LinkDependencies) {
    this.#options = options;
    this.#outgoing = new Outgoing(dependencies.scheduler, (items, taken) => {
      if (items.length === 0 || !this.#link.isOpen) return;
      this.#link.write({ batches: items.map(messageBatchToWire) }, taken);
    });
    this.#link = new StreamLink({ address: options.address, method: DELIVER }, dependencies, {
      onOpen: () => undefined,
      onMessage: this.#receive,
      onBroken: () => {
        this.#outgoing.clear();
      },
    });
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  start(): void {
    this.#link.start();
  }

  stop(): void {
    this.#link.stop();
  }

  /** Effects: the batch leaves with others of this turn, in parts when it is large. */
  deliver(batch: MessageBatch): void {
    if (!this.#link.isOpen) return;
    for (const { part, bytes } of splitBatch(batch)) {
      if (bytes > this.#options.messageBytesMax) {
        onTooLarge('message', bytes);
        return;
      }
      if (!this.#outgoing.offer(part, bytes)) {
        onOverflow('message');
        return;
      }
    }
  }

  readonly #receive = ({ acks }: wire.MessageAcks): void => {
    for (const ack of acks) {
      try {
        this.#options.acknowledge(messageAckFromWire(ack));
      } catch (error) {
        onHandlerFailed('acknowledgement', error);
      }
    }
  };
}

interface BatchPart {
  readonly part: MessageBatch;
  readonly bytes: number;
}

/** Parts of at most BATCH_BYTES_MAX, or of one message; numbered on without a gap. */
export function splitBatch(batch: MessageBatch): readonly BatchPart[] {
  const { sender, destination, messages } = batch;
  const parts: BatchPart[] = [];
  let begin = 0;
  let bytes = 0;
  const cut = (end: number): void => {
    const part = {
      sender,
      destination,
      first: batch.first + begin,
      messages: messages.slice(begin, end),
    };
    parts.push({ part: begin === 0 && end === messages.length ? batch : part, bytes });
    begin = end;
    bytes = 0;
  };
  for (const [index, message] of messages.entries()) {
    const weight = weightOfMessage(message);
    if (index > begin && bytes + weight > BATCH_BYTES_MAX) cut(index);
    bytes += weight;
  }
  if (begin < messages.length) cut(messages.length);
  return parts;
}
