/**
 * The channel to one other worker. A request that has no answer when the stream breaks is answered `disconnected`; while there is
 * no stream, so is every new one.
 */

import type { PartitionAnswer, PartitionRequest } from '@engine/domain';
import {
  partitionAnswerFromWire,
  partitionRequestToWire,
  type PartitionChannel,
  type SentRequest,
  type wire,
} from '@engine/wire';

import { onHandlerFailed, onOverflow, onTooLarge } from '../events.js';
import { UNANSWERED_MAX } from '../limits.js';
import { EXCHANGE } from '../methods.js';
import { Outgoing } from '../outgoing.js';
import { weightOfRequest } from '../weights.js';
import { StreamLink, type LinkDependencies } from './stream-link.js';

type Respond = (answer: PartitionAnswer) => void;

export interface RemoteChannelOptions {
  readonly address: string;
  /** Largest message between nodes. */
  readonly messageBytesMax: number;
  readonly onOpen?: () => void;
  /** Called after every waiting request was answered. */
  readonly onBroken?: () => void;
}

const OVERLOADED: PartitionAnswer = { kind: 'unavailable', reason: 'overloaded' };
const DISCONNECTED: PartitionAnswer = { kind: 'unavailable', reason: 'disconnected' };

export class RemoteChannel implements PartitionChannel {
  readonly #options: RemoteChannelOptions;
  readonly #dependencies: LinkDependencies;
  readonly #link: StreamLink<wire.PartitionRequests, wire.PartitionAnswers>;
  readonly #outgoing: Outgoing<PartitionRequest>;
  readonly #waiting = new Map<string, WaitingRequest>();
  #withdrawn: string[] = [];

  constructor(options: RemoteChannelOptions, dependencies: LinkDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#outgoing = new Outgoing(dependencies.scheduler, this.#write);
    this.#link = new StreamLink({ address: options.address, method: EXCHANGE }, dependencies, {
      onOpen: () => options.onOpen?.(),
      onMessage: this.#receive,
      onBroken: () => {
        this.#lose();
        options.onBroken?.();
      },
    });
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  /** Requests without an answer so far. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  start(): void {
    this.#link.start();
  }

  /** Answers whoever waits with `disconnected`. */
  stop(): void {
    this.#link.stop();
  }

  send(request: PartitionRequest, respond: Respond): SentRequest {
    const waiting = new WaitingRequest(request.requestId, respond, this.#leave);
    const refusal = this.#link.isOpen ? this.#offer(request) : DISCONNECTED;
    if (refusal === undefined) this.#waiting.set(request.requestId, waiting);
    else {
      this.#dependencies.scheduler.immediate(() => {
        waiting.respond(refusal);
      });
    }
    return waiting;
  }

  #offer(request: PartitionRequest): PartitionAnswer | undefined {
    const bytes = weightOfRequest(request);
    if (bytes > this.#options.messageBytesMax) {
      onTooLarge('request', bytes);
      return OVERLOADED;
    }
    if (this.#waiting.size < UNANSWERED_MAX && this.#outgoing.offer(request, bytes))
      return undefined;
    onOverflow('request');
    return OVERLOADED;
  }

  readonly #leave = (waiting: WaitingRequest): void => {
    const { requestId } = waiting;
    if (this.#waiting.get(requestId) !== waiting) return;
    this.#waiting.delete(requestId);
    this.#withdrawn.push(requestId);
    this.#outgoing.flushSoon();
  };

  readonly #write = (items: PartitionRequest[], taken: () => void): void => {
    const withdrawn = this.#withdrawn;
    if (!this.#link.isOpen || items.length + withdrawn.length === 0) return;
    this.#withdrawn = [];
    this.#link.write({ requests: items.map(partitionRequestToWire), withdrawn }, taken);
  };

  readonly #receive = ({ answers }: wire.PartitionAnswers): void => {
    for (const message of answers) {
      const waiting = this.#waiting.get(message.requestId);
      if (waiting === undefined) continue;
      this.#waiting.delete(message.requestId);
      try {
        waiting.respond(partitionAnswerFromWire(message));
      } catch (error) {
        onHandlerFailed('answer', error);
      }
    }
  };

  #lose(): void {
    this.#outgoing.clear();
    this.#withdrawn = [];
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const request of waiting) request.respond(DISCONNECTED);
  }
}

class WaitingRequest implements SentRequest {
  readonly requestId: string;
  respond: Respond;
  readonly #leave: (request: WaitingRequest) => void;

  constructor(requestId: string, respond: Respond, leave: (request: WaitingRequest) => void) {
    this.requestId = requestId;
    this.respond = respond;
    this.#leave = leave;
  }

  withdraw(): void {
    this.respond = ignore;
    this.#leave(this);
  }
}

function ignore(): void {
  // The caller has left.
}
