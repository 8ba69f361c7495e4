import type { MessagePort } from 'node:worker_threads';
import type { Row, ScanRequest } from '../table.js';
import type { Answer, Ask, LastAsk } from './messages.js';
import { QueryFailure } from './query-failure.js';

/** The thread's end of a query's channel: asks for rows, hands out the answer. One question at a time. */
export class QueryChannel {
  readonly #port: MessagePort;
  readonly #onStop: () => void;
  #waiting: ((answer: Answer) => void) | undefined;
  #isStopped = false;

  constructor(port: MessagePort, onStop: () => void) {
    this.#port = port;
    this.#onStop = onStop;
    port.on('message', (answer: Answer) => {
      if (answer.kind === 'stop') {
        this.#isStopped = true;
        this.#onStop();
      }
      this.#waiting?.(answer);
      this.#waiting = undefined;
    });
  }

  /** Throws when the query was told to stop. */
  checkStopped(): void {
    if (this.#isStopped) throw new QueryFailure('failed', 'the query was stopped');
  }

  /** The batches of a scan. */
  async *rows(scan: ScanRequest): AsyncGenerator<readonly Row[]> {
    for (;;) {
      const answer = await this.#ask({ kind: 'rows', scan });
      if (answer.kind !== 'rows' || answer.rows.length === 0) return;
      yield answer.rows;
    }
  }

  /** Hands out a piece of the answer; resolves when there is room for the next one. */
  async give(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#ask({ kind: 'take', bytes });
  }

  /** The last message. Nothing may follow. */
  end(last: LastAsk): void {
    this.#port.postMessage(last);
    this.#port.close();
  }

  async #ask(ask: Ask): Promise<Answer> {
    this.checkStopped();
    const answered = new Promise<Answer>((resolve) => {
      this.#waiting = resolve;
    });
    this.#port.postMessage(ask);
    const answer = await answered;
    if (answer.kind === 'refused') throw new QueryFailure(answer.failure, answer.message);
    this.checkStopped();
    return answer;
  }
}
