/**
 * One stream of requests and their answers, on the side of the worker. A peer that does not read its answers is not read from
 * either; when they still grow past their limit the stream is cut, and the peer asks again by request id.
 */

import { EngineError, type PartitionAnswer } from '@engine/domain';
import type { Scheduler } from '@engine/runtime';
import {
  partitionAnswerToWire,
  partitionRequestFromWire,
  type PartitionChannel,
  type SentRequest,
  type wire,
} from '@engine/wire';
import type { ServerDuplexStream } from '@grpc/grpc-js';

import { onHandlerFailed, onOverflow, onTooLarge } from '../events.js';
import { READ_PAUSE_BYTES, UNANSWERED_MAX } from '../limits.js';
import { Outgoing } from '../outgoing.js';
import { toStatus } from '../status.js';
import { weightOfAnswer } from '../weights.js';

export type ExchangeStream = ServerDuplexStream<wire.PartitionRequests, wire.PartitionAnswers>;

export interface ExchangeDependencies {
  readonly channel: PartitionChannel;
  readonly scheduler: Scheduler;
  readonly messageBytesMax: number;
}

interface Answered {
  readonly requestId: string;
  readonly answer: PartitionAnswer;
}

const OVERLOADED: PartitionAnswer = { kind: 'unavailable', reason: 'overloaded' };

export class ExchangeCall {
  readonly #stream: ExchangeStream;
  readonly #dependencies: ExchangeDependencies;
  readonly #outgoing: Outgoing<Answered>;
  readonly #unanswered = new Map<string, SentRequest>();
  #isOver = false;

  constructor(stream: ExchangeStream, dependencies: ExchangeDependencies) {
    this.#stream = stream;
    this.#dependencies = dependencies;
    this.#outgoing = new Outgoing(dependencies.scheduler, this.#write);
  }

  /** Serves until either end closes the stream. */
  serve(): void {
    const over = (): void => {
      this.#end();
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

  readonly #receive = ({ requests, withdrawn }: wire.PartitionRequests): void => {
    try {
      for (const request of requests) this.#take(request);
    } catch (error) {
      onHandlerFailed('exchange', error);
      this.#cut(new EngineError('bad-request', 'a request cannot be read', { cause: error }));
      return;
    }
    for (const requestId of withdrawn) {
      this.#unanswered.get(requestId)?.withdraw();
      this.#unanswered.delete(requestId);
    }
  };

  #take(message: wire.PartitionRequests['requests'][number]): void {
    if (this.#isOver) return;
    const { requestId } = message;
    if (this.#unanswered.size >= UNANSWERED_MAX) {
      onOverflow('request');
      this.#answer(requestId, OVERLOADED);
      return;
    }
    const sent = this.#dependencies.channel.send(partitionRequestFromWire(message), (answer) => {
      if (this.#unanswered.get(requestId) !== sent) return;
      this.#unanswered.delete(requestId);
      this.#answer(requestId, answer);
    });
    this.#unanswered.set(requestId, sent);
  }

  #answer(requestId: string, answer: PartitionAnswer): void {
    const { messageBytesMax } = this.#dependencies;
    const bytes = weightOfAnswer(answer);
    const isTooLarge = bytes > messageBytesMax;
    if (isTooLarge) onTooLarge('answer', bytes);
    const given = isTooLarge ? OVERLOADED : answer;
    if (!this.#outgoing.offer({ requestId, answer: given }, isTooLarge ? 0 : bytes)) {
      onOverflow('answer');
      this.#cut(new EngineError('overloaded', 'the answers are not read'));
    } else if (this.#outgoing.bytes > READ_PAUSE_BYTES) this.#stream.pause();
  }

  readonly #write = (items: Answered[], taken: () => void): void => {
    if (this.#isOver || items.length === 0) return;
    const answers = items.map(({ requestId, answer }) => partitionAnswerToWire(requestId, answer));
    this.#stream.write({ answers }, taken);
    if (this.#stream.isPaused() && this.#outgoing.bytes <= READ_PAUSE_BYTES) this.#stream.resume();
  };

  #cut(error: EngineError): void {
    if (this.#isOver) return;
    this.#end();
    this.#stream.emit('error', toStatus(error));
  }

  /** Nobody waits here for the requests any more; what they asked for goes on. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#outgoing.clear();
    for (const sent of this.#unanswered.values()) sent.withdraw();
    this.#unanswered.clear();
  }
}
