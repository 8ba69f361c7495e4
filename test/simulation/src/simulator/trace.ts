/** The log of everything that happened: a hash that two runs of one seed must share, and the last lines for people. */

import { createHash } from 'node:crypto';

const LINES_KEPT = 4_000;

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #lines: string[] = [];
  readonly #echo: ((line: string) => void) | undefined;
  #count = 0;

  /** `echo` gets every line as it happens. */
  constructor(echo?: (line: string) => void) {
    this.#echo = echo;
  }

  get count(): number {
    return this.#count;
  }

  add(at: number, text: string): void {
    const line = `${at.toFixed(3)} ${text}`;
    this.#count += 1;
    this.#hash.update(line).update('\n');
    this.#lines.push(line);
    if (this.#lines.length > LINES_KEPT * 2) this.#lines.splice(0, LINES_KEPT);
    this.#echo?.(line);
  }

  /** Hash over all lines so far; the trace goes on. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** The last lines that contain any of the words; all words = none given. */
  tail(count: number, words: readonly string[] = []): readonly string[] {
    const matching =
      words.length === 0
        ? this.#lines
        : this.#lines.filter((line) => words.some((word) => line.includes(word)));
    return matching.slice(-count);
  }
}
