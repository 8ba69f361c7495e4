/**
 * Publishes to streams of one connection and hands back their answers, with one subscription for all of them. A tenth of the cost
 * of the library's `publish`, which makes a request with timer and listeners each time. What the partitions of a process publish in
 * one turn of the event loop leaves in one write to the socket, which costs as much as the rest of a message.
 */

import type { Scheduler } from '@engine/runtime';
import { decodeUtf8 } from '@engine/stdx';
import {
  createInbox,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';

import type { AppendAnswer, AppendRequest } from './log/log-stream.js';
import { refusalOf, type ApiError } from './log/refusals.js';

const EXPECTED_LAST_SEQUENCE = 'Nats-Expected-Last-Sequence';
const NO_RESPONDERS = 503;

interface Outgoing {
  readonly subject: string;
  readonly token: string;
  readonly request: AppendRequest;
}

export class AckInbox {
  readonly #connection: NatsConnection;
  readonly #scheduler: Scheduler;
  readonly #prefix: string;
  readonly #subscription: Subscription;
  readonly #waiting = new Map<string, (answer: AppendAnswer) => void>();
  readonly #onReconnect = new Set<() => void>();
  #outgoing: Outgoing[] = [];
  #isConnected = true;
  #next = 0;

  constructor(connection: NatsConnection, scheduler: Scheduler) {
    this.#connection = connection;
    this.#scheduler = scheduler;
    this.#prefix = `${createInbox()}.`;
    this.#subscription = connection.subscribe(`${this.#prefix}*`, {
      callback: (error, message) => {
        if (error === null) this.#onMessage(message);
      },
    });
    void this.#watchConnection();
  }

  /**
   * Sends a message that the stream takes only behind `expectedLast`, soon. While disconnected nothing is sent. Returns how to forget
   * it: its answer is not told any more, and it stays here if it has not left.
   */
  publish(subject: string, request: AppendRequest): () => void {
    if (!this.#isConnected || this.#connection.isClosed()) return () => undefined;
    this.#next += 1;
    const token = this.#next.toString(36);
    this.#waiting.set(token, request.onAnswer);
    if (this.#outgoing.length === 0) this.#scheduler.immediate(this.#send);
    this.#outgoing.push({ subject, token, request });
    return () => {
      this.#waiting.delete(token);
    };
  }

  /** Calls `listener` each time that the connection is there again. */
  onReconnect(listener: () => void): Disposable {
    this.#onReconnect.add(listener);
    return { [Symbol.dispose]: () => void this.#onReconnect.delete(listener) };
  }

  close(): void {
    this.#subscription.unsubscribe();
    this.#waiting.clear();
    this.#onReconnect.clear();
  }

  readonly #send = (): void => {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    for (const { subject, token, request } of outgoing) {
      if (!this.#waiting.has(token) || !this.#isConnected || this.#connection.isClosed()) continue;
      const headers = expecting(request.expectedLast);
      this.#connection.publish(subject, request.payload, { reply: this.#prefix + token, headers });
    }
  };

  #onMessage(message: Msg): void {
    const token = message.subject.slice(this.#prefix.length);
    const onAnswer = this.#waiting.get(token);
    if (onAnswer === undefined) return;
    this.#waiting.delete(token);
    onAnswer(answerOf(message));
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') this.#isConnected = false;
      if (status.type !== 'reconnect') continue;
      this.#isConnected = true;
      for (const listener of this.#onReconnect) listener();
    }
  }
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
