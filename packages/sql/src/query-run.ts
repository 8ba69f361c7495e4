import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { EngineError, isEngineError } from '@engine/domain';
import { assertNever, Deferred } from '@engine/stdx';
import { SCAN_BATCH_ROWS_MAX } from './limits.js';
import type { Row, ScanRequest, TableProvider } from './table.js';
import type { Answer, Ask, FailureKind } from './thread/messages.js';

/**
 * One query seen from the main thread: gives rows to the database thread when it asks, takes the answer from it.
 *
 * The thread says `done` or `failed` last, whatever happens; until then its turn lasts (`ended`).
 */
export class QueryRun {
  /** To be handed to the thread. */
  readonly threadPort: MessagePort;
  readonly #port: MessagePort;
  readonly #provider: TableProvider;
  readonly #controller = new AbortController();
  readonly #ended = new Deferred<void>();
  #scan: AsyncIterator<readonly Row[]> | undefined;
  #stopError: EngineError | undefined;
  /** Rows that cannot be had now: the caller is told so, and not what the database makes of it. */
  #missing: EngineError | undefined;
  #next = new Deferred<Uint8Array | undefined>();

  constructor(provider: TableProvider) {
    const { port1, port2 } = new MessageChannel();
    this.#provider = provider;
    this.#port = port1;
    this.threadPort = port2;
    // Whoever reads the answer sees a failure; nobody else has to.
    this.#next.promise.catch(() => undefined);
    port1.on('message', (ask: Ask) => {
      this.#onAsk(ask);
    });
  }

  /** Resolves when the thread is done with the query. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** First piece of the answer. Rejects as QueryService says. */
  async first(): Promise<Uint8Array | undefined> {
    return this.#next.promise;
  }

  /** All pieces of the answer, the first one again. */
  async *answer(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const bytes = await this.#next.promise;
        if (bytes === undefined) return;
        this.#next = new Deferred();
        this.#next.promise.catch(() => undefined);
        yield bytes;
        this.#answer({ kind: 'taken' });
      }
    } finally {
      this.stop(new EngineError('cancelled', 'the answer was not read to its end'));
    }
  }

  /** Asks the thread to end the query, which then fails with this error. Harmless when it has ended. */
  stop(error: EngineError): void {
    if (this.#ended.settled || this.#stopError !== undefined) return;
    this.#stopError = error;
    this.#controller.abort(error);
    this.#answer({ kind: 'stop' });
  }

  /** The thread is gone. Harmless after the query's end. */
  abandon(message: string): void {
    this.#finish(new EngineError('internal', message));
  }

  #onAsk(ask: Ask): void {
    switch (ask.kind) {
      case 'rows':
        void this.#giveRows(ask.scan);
        return;
      case 'take':
        this.#next.resolve(ask.bytes);
        return;
      case 'done':
        this.#finish(undefined);
        return;
      case 'failed':
        this.#finish(this.#missing ?? new EngineError(codeOf(ask.failure), ask.message));
        return;
      default:
        assertNever(ask);
    }
  }

  async #giveRows(scan: ScanRequest): Promise<void> {
    try {
      this.#scan ??= inBatches(this.#provider.scan(scan, this.#controller.signal));
      const next = await this.#scan.next();
      if (next.done === true) this.#scan = undefined;
      this.#answer({ kind: 'rows', rows: next.done === true ? [] : next.value });
    } catch (error) {
      this.#scan = undefined;
      if (isEngineError(error) && error.code === 'unavailable') this.#missing ??= error;
      const failure = isEngineError(error) && error.code === 'bad-request' ? 'statement' : 'failed';
      const message = error instanceof Error ? error.message : String(error);
      this.#answer({ kind: 'refused', failure, message });
    }
  }

  #answer(answer: Answer): void {
    if (!this.#ended.settled) this.#port.postMessage(answer);
  }

  #finish(error: EngineError | undefined): void {
    if (this.#ended.settled) return;
    this.#ended.resolve();
    this.#port.close();
    void this.#scan?.return?.();
    if (error === undefined) this.#next.resolve(undefined);
    else this.#next.reject(this.#stopError ?? error);
  }
}

/** The same rows in batches that the database takes; none is empty. */
async function* inBatches(
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[], undefined> {
  for await (const batch of batches) {
    for (let start = 0; start < batch.length; start += SCAN_BATCH_ROWS_MAX) {
      yield batch.slice(start, start + SCAN_BATCH_ROWS_MAX);
    }
  }
  return undefined;
}

function codeOf(failure: FailureKind): 'bad-request' | 'internal' {
  return failure === 'statement' ? 'bad-request' : 'internal';
}
