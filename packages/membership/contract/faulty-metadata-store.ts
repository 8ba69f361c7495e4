/** One process's way to a MetadataStore, which a test can break. */

import { EngineError } from '@engine/domain';
import type { ExpectedVersion, MetadataEntry, MetadataStore, NamedEntry } from '@engine/metadata';

/** `lost-answers`: what is asked for happens, and nobody learns it. */
export type StoreFault = 'none' | 'refusing' | 'hanging' | 'lost-answers';

export class FaultyMetadataStore implements MetadataStore {
  readonly #store: MetadataStore;
  readonly #paused: (() => void)[] = [];
  fault: StoreFault = 'none';
  /** Writes that the store has taken, by document. */
  readonly puts: string[] = [];

  constructor(store: MetadataStore) {
    this.#store = store;
  }

  get(name: string): Promise<MetadataEntry | undefined> {
    return this.#answer(() => this.#store.get(name));
  }

  put(name: string, value: Uint8Array, expected: ExpectedVersion): Promise<bigint> {
    return this.#answer(async () => {
      const version = await this.#store.put(name, value, expected);
      this.puts.push(name);
      return version;
    });
  }

  watch(name: string, listener: (entry: MetadataEntry) => void): Disposable {
    return this.#store.watch(name, (entry) => {
      if (this.fault === 'none') listener(entry);
      else
        this.#paused.push(() => {
          listener(entry);
        });
    });
  }

  list(prefix: string): Promise<readonly NamedEntry[]> {
    return this.#answer(() => this.#store.list(prefix));
  }

  /** Watches tell what they kept back; what hangs hangs for ever. */
  heal(): void {
    this.fault = 'none';
    for (const tell of this.#paused.splice(0)) tell();
  }

  async #answer<T>(ask: () => Promise<T>): Promise<T> {
    if (this.fault === 'refusing') throw new EngineError('unavailable', 'the store is away');
    if (this.fault === 'hanging') return new Promise(() => undefined);
    if (this.fault === 'none') return ask();
    await ask().catch(() => undefined);
    throw new EngineError('unavailable', 'the answer is lost');
  }
}
