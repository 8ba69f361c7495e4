/** What an attempt has said that is not durable yet. Beyond a limit the attempt is not read any further until all of it is. */

const COMMANDS_MAX = 256;
const BYTES_MAX = 1024 * 1024;

export class Backlog {
  #commands = 0;
  #bytes = 0;
  #isOver = false;

  /** True while reading should rest. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Counts a command. True when it is the one that goes over the limit. */
  add(bytes: number): boolean {
    this.#commands += 1;
    this.#bytes += bytes;
    if (this.#isOver || (this.#commands <= COMMANDS_MAX && this.#bytes <= BYTES_MAX)) return false;
    this.#isOver = true;
    return true;
  }

  /** Everything that was counted is durable. */
  clear(): void {
    this.#commands = 0;
    this.#bytes = 0;
    this.#isOver = false;
  }
}
