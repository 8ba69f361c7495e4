/** The file that moves the clock of one process (moved-clock.mjs). */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const HOOK = pathToFileURL(join(import.meta.dirname, 'moved-clock.mjs')).href;

export class ClockFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.move(0);
  }

  /** For the process whose clock it is. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import ${HOOK}`, FAULT_CLOCK_FILE: this.#path };
  }

  /** Seen by the process within a tenth of a second. */
  move(ms: number): void {
    writeFileSync(this.#path, String(ms));
  }
}
