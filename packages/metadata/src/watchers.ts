/** Listeners of documents, for stores whose changes all pass through this process. */

import type { MetadataEntry } from './metadata-store.js';

interface Watcher {
  readonly listener: (entry: MetadataEntry) => void;
  seen: bigint;
}

export class Watchers {
  readonly #byName = new Map<string, Set<Watcher>>();

  /** Adds a listener and tells it `current`, once that is known. */
  add(
    name: string,
    listener: (entry: MetadataEntry) => void,
    current: Promise<MetadataEntry | undefined>,
  ): Disposable {
    const watcher: Watcher = { listener, seen: 0n };
    const watchers = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, watchers.add(watcher));
    void current.then(
      (entry) => {
        if (entry !== undefined) this.#tell(name, watcher, entry);
      },
      () => undefined, // The next change is told all the same.
    );
    return {
      [Symbol.dispose]: () => {
        watchers.delete(watcher);
        if (watchers.size === 0) this.#byName.delete(name);
      },
    };
  }

  /** Effects: tells the listeners of `name`, after the current turn. */
  changed(name: string, entry: MetadataEntry): void {
    void Promise.resolve().then(() => {
      for (const watcher of this.#byName.get(name) ?? []) this.#tell(name, watcher, entry);
    });
  }

  #tell(name: string, watcher: Watcher, entry: MetadataEntry): void {
    const isWatching = this.#byName.get(name)?.has(watcher) === true;
    if (!isWatching || entry.version <= watcher.seen) return;
    watcher.seen = entry.version;
    watcher.listener(entry);
  }
}
