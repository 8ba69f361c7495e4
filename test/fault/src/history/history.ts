/** The history of a run: a file of JSON lines. */

import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';

import type { HistoryEntry, Recorded } from './event.js';

export type Listener = (entry: Recorded) => void;

export class History implements AsyncDisposable {
  readonly path: string;
  readonly #file: WriteStream;
  readonly #listeners: Listener[] = [];
  #count = 0;

  constructor(path: string) {
    this.path = path;
    this.#file = createWriteStream(path);
  }

  get count(): number {
    return this.#count;
  }

  /** Hears of every entry from now on, in the same turn. */
  onEntry(listener: Listener): void {
    this.#listeners.push(listener);
  }

  record(entry: HistoryEntry): void {
    const recorded: Recorded = { ...entry, time: Date.now() };
    this.#count += 1;
    this.#file.write(`${JSON.stringify(recorded)}\n`);
    for (const listener of this.#listeners) listener(recorded);
  }

  /** Everything that was recorded so far is in the file. */
  async flush(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#file.write('', (error) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#file.end(resolve));
  }
}

export async function* readHistory(path: string): AsyncIterable<Recorded> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line !== '') yield JSON.parse(line) as Recorded;
  }
}
