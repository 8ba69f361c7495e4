/**
 * One watch of one document, told in order of the versions until it is stopped. What the servers push is quick; a consumer of theirs can
 * fall silent over a change of their leaders, so the document is also read now and then, and a watch that missed something begins anew.
 */

import type { MetadataEntry } from '@engine/metadata';
import { delay, type Scheduler } from '@engine/runtime';
import type { KV, KvWatchEntry } from '@nats-io/kv';

const REOPEN_DELAY_MS = 250;

/** A change that is not pushed is told after so long at most, while the servers answer. */
export const WATCH_CHECK_INTERVAL_MS = 2_000;

interface KvWatchDependencies {
  readonly bucket: KV;
  /** The document as the server that leads the bucket has it. */
  readonly read: () => Promise<MetadataEntry | undefined>;
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
    void this.#hear();
    void this.#check();
  }

  stop(): void {
    this.#controller.abort();
    this.#entries?.stop();
  }

  async #hear(): Promise<void> {
    while (!this.#isStopped()) {
      // A watch begins with the newest entry, so what changed in between is told.
      await this.#watchOnce().catch(() => undefined);
      await this.#pause(REOPEN_DELAY_MS);
    }
  }

  async #check(): Promise<void> {
    for (;;) {
      await this.#pause(WATCH_CHECK_INTERVAL_MS);
      if (this.#isStopped()) return;
      const entry = await this.#dependencies.read().catch(() => undefined);
      if (entry !== undefined && this.#tell(entry)) this.#entries?.stop();
    }
  }

  async #watchOnce(): Promise<void> {
    const entries: Entries = await this.#dependencies.bucket.watch({ key: this.#key });
    this.#entries = entries;
    if (this.#isStopped()) entries.stop();
    for await (const { operation, value, revision } of entries) {
      if (operation === 'PUT') this.#tell({ value, version: BigInt(revision) });
    }
  }

  /** True when it was new. */
  #tell(entry: MetadataEntry): boolean {
    if (this.#isStopped() || entry.version <= this.#seen) return false;
    this.#seen = entry.version;
    this.#dependencies.listener(entry);
    return true;
  }

  #pause(ms: number): Promise<void> {
    return delay(this.#dependencies.scheduler, ms, this.#controller.signal).catch(() => undefined);
  }

  /** Asked anew after every wait. */
  #isStopped(): boolean {
    return this.#controller.signal.aborted;
  }
}
