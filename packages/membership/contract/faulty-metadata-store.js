/** One process's way to a MetadataStore, which a test can break. */
import { EngineError } from '@engine/domain';
export class FaultyMetadataStore {
  #store;
  #paused = [];
  fault = 'none';
  /** Writes that the store has taken, by document. */
  puts = [];
  constructor(store) {
    this.#store = store;
  }
  get(name) {
    return this.#answer(() => this.#store.get(name));
  }
  put(name, value, expected) {
    return this.#answer(async () => {
      const version = await this.#store.put(name, value, expected);
      this.puts.push(name);
      return version;
    });
  }
  watch(name, listener) {
    return this.#store.watch(name, (entry) => {
      if (this.fault === 'none') listener(entry);
      else
        this.#paused.push(() => {
          listener(entry);
        });
    });
  }
  list(prefix) {
    return this.#answer(() => this.#store.list(prefix));
  }
  /** Watches tell what they kept back; what hangs hangs for ever. */
  heal() {
    this.fault = 'none';
    for (const tell of this.#paused.splice(0)) tell();
  }
  async #answer(ask) {
    if (this.fault === 'refusing') throw new EngineError('unavailable', 'the store is away');
    if (this.fault === 'hanging') return new Promise(() => undefined);
    if (this.fault === 'none') return ask();
    await ask().catch(() => undefined);
    throw new EngineError('unavailable', 'the answer is lost');
  }
}
//# sourceMappingURL=faulty-metadata-store.js.map
