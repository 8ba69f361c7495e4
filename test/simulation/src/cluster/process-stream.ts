/** A stream in the hands of one process: what comes back has its turn there, and nothing comes back to the dead. */

import type {
  AppendRequest,
  LogStream,
  SimulatedStream,
  StoredMessage,
  StreamState,
} from '@engine/nats/contract';

import type { ServerProcess } from '../simulator/process.js';

export interface StreamUser {
  readonly id: string;
  readonly process: ServerProcess;
}

/** True when the publish takes its usual way. */
type Pass = (publish: Pick<AppendRequest, 'payload' | 'expectedLast'>) => boolean;

/** Longest time until a reader hears of a message, ms. */
const HEAR_MS_MAX = 4;

export class ProcessStream implements LogStream {
  readonly user: StreamUser;
  readonly #view: ReturnType<SimulatedStream['view']>;
  readonly #pass: Pass;
  readonly #reconnected = new Set<() => void>();

  constructor(user: StreamUser, stream: SimulatedStream, pass: Pass) {
    this.user = user;
    this.#view = stream.view();
    this.#pass = pass;
  }

  get payloadBytesMax(): number {
    return this.#view.payloadBytesMax;
  }

  get isCutOff(): boolean {
    return this.#view.isCutOff;
  }

  set isCutOff(isCutOff: boolean) {
    const isMended = this.#view.isCutOff && !isCutOff;
    this.#view.isCutOff = isCutOff;
    if (!isMended) return;
    for (const listener of this.#reconnected) this.user.process.guarded(listener)();
  }

  publish({ payload, expectedLast, onAnswer }: AppendRequest): () => void {
    const { process } = this.user;
    if (!process.stepOutward() || !this.#pass({ payload, expectedLast })) return () => undefined;
    let isForgotten = false;
    this.#view.publish({
      payload,
      expectedLast,
      onAnswer: (answer) => {
        const hear = process.guarded(() => {
          if (!isForgotten) onAnswer(answer);
        });
        hear();
      },
    });
    return () => {
      isForgotten = true;
    };
  }

  get(sequence: number): Promise<StoredMessage | undefined> {
    return this.#inTurn(this.#view.get(sequence));
  }

  state(): Promise<StreamState> {
    return this.#inTurn(this.#view.state());
  }

  purgeBelow(sequence: number): Promise<void> {
    return this.#inTurn(this.#view.purgeBelow(sequence));
  }

  async *messages(from: number, signal: AbortSignal): AsyncIterable<readonly StoredMessage[]> {
    const { process } = this.user;
    const either = new AbortController();
    const stop = (): void => {
      either.abort(signal.reason);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    process.died.addEventListener('abort', stop);
    try {
      for await (const messages of this.#view.messages(from, either.signal)) {
        await process.turn(process.random.float() * HEAR_MS_MAX);
        yield messages;
      }
    } catch (error) {
      // Nobody is there to hear of it.
      if (!process.isAlive) await new Promise(() => undefined);
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      process.died.removeEventListener('abort', stop);
    }
  }

  onReconnect(listener: () => void): Disposable {
    this.#reconnected.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#reconnected.delete(listener);
      },
    };
  }

  #inTurn<T>(promise: Promise<T>): Promise<T> {
    const { process } = this.user;
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => {
          process.guarded(() => {
            resolve(value);
          })();
        },
        (error: unknown) => {
          process.guarded(() => {
            reject(error instanceof Error ? error : new Error(String(error)));
          })();
        },
      );
    });
  }
}
