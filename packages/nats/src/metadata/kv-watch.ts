/** One watch of one document: told in order of the versions, opened again whenever it ends by itself, until it is stopped. */

import type { MetadataEntry } from '@engine/metadata';
import { delay, type Scheduler } from '@engine/runtime';
import type { KV, KvWatchEntry } from '@nats-io/kv';

const REOPEN_DELAY_MS = 250;

interface KvWatchDependencies {
  readonly bucket: KV;
  readonly scheduler: Scheduler;
  readonly listener: (entry: MetadataEntry) => void;
}

type Entries = AsyncIterable<KvWatchEntry> & { stop(): void };

export class KvWatch {
  readonly #key: string;
  readonly #dependencies: KvWatchDependencies;
  readonly #controller = new AbortController();
  #entries: Entries | undefined;
  #seen = 0n;

  constructor(key: string, dependencies: KvWatchDependencies) {
    this.#key = key;
    this.#dependencies = dependencies;
    void this.#run();
  }

  stop(): void {
    this.#controller.abort();
    this.#entries?.stop();
  }

  async #run(): Promise<void> {
    const { scheduler } = this.#dependencies;
    while (!this.#isStopped()) {
      // A watch begins with the newest entry, so what changed in between is told.
      await this.#watchOnce().catch(() => undefined);
      await delay(scheduler, REOPEN_DELAY_MS, this.#controller.signal).catch(() => undefined);
    }
  }

  async #watchOnce(): Promise<void> {
    const entries: Entries = await this.#dependencies.bucket.watch({ key: this.#key });
    this.#entries = entries;
    if (this.#isStopped()) entries.stop();
    for await (const entry of entries) {
      if (this.#isStopped()) return;
      const version = BigInt(entry.revision);
      if (entry.operation !== 'PUT' || version <= this.#seen) continue;
      this.#seen = version;
      this.#dependencies.listener({ value: entry.value, version });
    }
  }

  /** Asked anew after every wait. */
  #isStopped(): boolean {
    return this.#controller.signal.aborted;
  }
}
