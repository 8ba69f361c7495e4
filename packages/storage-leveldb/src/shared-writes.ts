/**
 * Writes of many replicas to one LevelDB. What comes while a batch is being written goes into the next one together, because a batch
 * costs more than the few rows of a small record. Nothing is synced: what a power cut takes can be read again from the log.
 */

import type { KvBatch, KvStore } from '@engine/storage';

interface Group {
  readonly batch: KvBatch;
  readonly written: PromiseWithResolvers<void>;
}

export class SharedWrites {
  readonly #store: KvStore;
  #next: Group | undefined;
  #isWriting = false;

  constructor(store: KvStore) {
    this.#store = store;
  }

  /**
   * `stage` puts rows into a batch that others share; it is called at once, and waits for nothing. Resolves when they are written.
   * Rejects for all of a batch when it cannot be written, or one of them throws.
   */
  write(stage: (batch: KvBatch) => void): Promise<void> {
    const group = (this.#next ??= this.#begin());
    try {
      stage(group.batch);
    } catch (error) {
      this.#next = undefined;
      group.written.reject(error);
    }
    return group.written.promise;
  }

  #begin(): Group {
    // The records of one turn of the event loop arrive one after the other.
    if (!this.#isWriting) setImmediate(this.#flush);
    return { batch: this.#store.batch(), written: Promise.withResolvers() };
  }

  readonly #flush = (): void => {
    const group = this.#next;
    if (group === undefined || this.#isWriting) return;
    this.#next = undefined;
    this.#isWriting = true;
    group.batch
      .write({ sync: false })
      .then(group.written.resolve, group.written.reject)
      .finally(() => {
        this.#isWriting = false;
        this.#flush();
      });
  };
}
