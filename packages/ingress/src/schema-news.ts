/**
 * Looks for what was registered a moment ago, before a name is called unknown. All who ask wait for a read that began after they
 * asked; reads follow each other with a pause, so that names that are no names cost little.
 */

import type { Scheduler } from '@engine/runtime';
import { SCHEMA_READ_PAUSE_MS } from './limits.js';
import { log } from './logger.js';

export class SchemaNews {
  readonly #read: () => Promise<unknown>;
  readonly #scheduler: Scheduler;
  #waiting: (() => void)[] = [];
  #isBusy = false;

  constructor(read: () => Promise<unknown>, scheduler: Scheduler) {
    this.#read = read;
    this.#scheduler = scheduler;
  }

  /** Resolves after a read that began after this call, also when it failed. */
  readonly caughtUp = (): Promise<void> =>
    new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isBusy) void this.#next();
    });

  async #next(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#isBusy = waiting.length > 0;
    if (!this.#isBusy) return;
    try {
      await this.#read();
    } catch (err) {
      log.warn({ err }, 'the newest schema cannot be read; the last one stays in force');
    }
    for (const resolve of waiting) resolve();
    this.#scheduler.after(SCHEMA_READ_PAUSE_MS, () => void this.#next());
  }
}
