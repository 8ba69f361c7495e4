/**
 * Answers to requests of one connection, with one subscription for all of them. A tenth of the cost of the library's `request`, which
 * makes a promise, a timer and listeners each time.
 */

import {
  createInbox,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';

export interface ExpectedReply {
  /** Where the answers are to be sent. */
  readonly subject: string;
  /** Answers are not told any more. */
  readonly forget: () => void;
}

export class ReplyInbox {
  readonly #connection: NatsConnection;
  readonly #prefix: string;
  readonly #subscription: Subscription;
  readonly #waiting = new Map<string, (message: Msg) => void>();
  readonly #onReconnect = new Set<() => void>();
  #isConnected = true;
  #next = 0;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#prefix = `${createInbox()}.`;
    this.#subscription = connection.subscribe(`${this.#prefix}*`, {
      callback: (error, message) => {
        if (error === null)
          this.#waiting.get(message.subject.slice(this.#prefix.length))?.(message);
      },
    });
    void this.#watchConnection();
  }

  /** False when what is sent now would wait for a connection. */
  get isConnected(): boolean {
    return this.#isConnected && !this.#connection.isClosed();
  }

  /** `onMessage` hears each answer until they are forgotten, which must happen. */
  expect(onMessage: (message: Msg) => void): ExpectedReply {
    this.#next += 1;
    const token = this.#next.toString(36);
    this.#waiting.set(token, onMessage);
    return { subject: this.#prefix + token, forget: () => void this.#waiting.delete(token) };
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

  async #watchConnection(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') this.#isConnected = false;
      if (status.type !== 'reconnect') continue;
      this.#isConnected = true;
      for (const listener of this.#onReconnect) listener();
    }
  }
}
