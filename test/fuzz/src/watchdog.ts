/** Tells a thread which input runs. The thread ends the process when one runs for too long (`bin/watchdog.mjs`). */

import { Worker } from 'node:worker_threads';

const HEAD_BYTES = 8;
const INPUT_BYTES_MAX = 256 * 1024;

export class Watchdog implements Disposable {
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;

  /** `replay` holds the word INPUT where the number of the input goes. */
  constructor(limitMs: number, replay: string) {
    const shared = new SharedArrayBuffer(HEAD_BYTES + INPUT_BYTES_MAX);
    this.#words = new Int32Array(shared, 0, 2);
    this.#bytes = new Uint8Array(shared, HEAD_BYTES);
    const file = new URL('../bin/watchdog.mjs', import.meta.url);
    new Worker(file, { workerData: { shared, limitMs, label: replay } }).unref();
  }

  /** Input `index` begins. */
  enter(index: number, bytes: Uint8Array): void {
    const shown = bytes.subarray(0, INPUT_BYTES_MAX);
    this.#bytes.set(shown);
    this.#words[1] = shown.length;
    Atomics.store(this.#words, 0, index + 1);
  }

  [Symbol.dispose](): void {
    Atomics.store(this.#words, 0, -1);
    Atomics.notify(this.#words, 0);
  }
}
