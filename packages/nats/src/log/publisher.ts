/**
 * Publishes to the streams of logs. What the partitions of a process publish in one turn of the event loop leaves in one write to the
 * socket, which costs as much as the rest of a message.
 */

import type { Scheduler } from '@engine/runtime';
import { decodeUtf8 } from '@engine/stdx';
import { headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';

import type { ExpectedReply, ReplyInbox } from '../reply-inbox.js';
import type { AppendAnswer, AppendRequest } from './log-stream.js';
import { refusalOf, type ApiError } from './refusals.js';

const EXPECTED_LAST_SEQUENCE = 'Nats-Expected-Last-Sequence';
const NO_RESPONDERS = 503;

interface Outgoing {
  readonly subject: string;
  readonly reply: ExpectedReply;
  readonly request: AppendRequest;
  isForgotten: boolean;
}

export interface PublisherDependencies {
  readonly connection: NatsConnection;
  readonly inbox: ReplyInbox;
  readonly scheduler: Scheduler;
}

export class Publisher {
  readonly #dependencies: PublisherDependencies;
  #outgoing: Outgoing[] = [];

  constructor(dependencies: PublisherDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Sends a message that the stream takes only behind `expectedLast`, soon. While disconnected nothing is sent. Returns how to forget
   * it: its answer is not told any more, and it stays here if it has not left.
   */
  publish(subject: string, request: AppendRequest): () => void {
    const { inbox, scheduler } = this.#dependencies;
    if (!inbox.isConnected) return () => undefined;
    const reply = inbox.expect((message) => {
      reply.forget();
      request.onAnswer(answerOf(message));
    });
    const outgoing = { subject, reply, request, isForgotten: false };
    if (this.#outgoing.length === 0) scheduler.immediate(this.#send);
    this.#outgoing.push(outgoing);
    return () => {
      outgoing.isForgotten = true;
      reply.forget();
    };
  }

  readonly #send = (): void => {
    const { connection, inbox } = this.#dependencies;
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    for (const { subject, reply, request, isForgotten } of outgoing) {
      if (isForgotten) continue;
      if (!inbox.isConnected) {
        reply.forget();
        continue;
      }
      const options = { reply: reply.subject, headers: expecting(request.expectedLast) };
      connection.publish(subject, request.payload, options);
    }
  };
}

function expecting(last: number): MsgHdrs {
  const expected = headers();
  expected.set(EXPECTED_LAST_SEQUENCE, String(last));
  return expected;
}

interface PublishAck {
  readonly seq?: number;
  readonly error?: ApiError;
}

function answerOf(message: Msg): AppendAnswer {
  if (message.headers?.code === NO_RESPONDERS) {
    return { kind: 'unavailable', why: 'nobody leads the stream' };
  }
  const { seq, error } = parse(message.data);
  if (error !== undefined) return refusalOf(error);
  if (seq !== undefined) return { kind: 'stored', sequence: seq };
  return { kind: 'unavailable', why: 'an answer that cannot be read' };
}

function parse(data: Uint8Array): PublishAck {
  try {
    return JSON.parse(decodeUtf8(data)) as PublishAck;
  } catch {
    return {};
  }
}
