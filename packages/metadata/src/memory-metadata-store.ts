import { EngineError } from '@engine/domain';

import type {
  ExpectedVersion,
  MetadataEntry,
  MetadataStore,
  NamedEntry,
} from './metadata-store.js';
import { Watchers } from './watchers.js';

/** Memory twin of MetadataStore. */
export class MemoryMetadataStore implements MetadataStore {
  readonly #entries = new Map<string, MetadataEntry>();
  readonly #watchers = new Watchers();

  get(name: string): Promise<MetadataEntry | undefined> {
    return Promise.resolve(this.#entries.get(name));
  }

  async put(name: string, value: Uint8Array, expected: ExpectedVersion): Promise<bigint> {
    await Promise.resolve();
    const found = this.#entries.get(name)?.version;
    requireExpected(name, found, expected);
    const entry = { value: value.slice(), version: (found ?? 0n) + 1n };
    this.#entries.set(name, entry);
    this.#watchers.changed(name, entry);
    return entry.version;
  }

  watch(name: string, listener: (entry: MetadataEntry) => void): Disposable {
    return this.#watchers.add(name, listener, this.get(name));
  }

  list(prefix: string): Promise<readonly NamedEntry[]> {
    const found = [...this.#entries].filter(([name]) => name.startsWith(prefix));
    const named = found.map(([name, entry]) => ({ ...entry, name }));
    return Promise.resolve(named.sort((a, b) => (a.name < b.name ? -1 : 1)));
  }
}

/** Throws EngineError `conflict` when a document does not have the version that a writer expects. */
export function requireExpected(
  name: string,
  found: bigint | undefined,
  expected: ExpectedVersion,
): void {
  if (found === (expected === 'absent' ? undefined : expected)) return;
  const has = found === undefined ? 'does not exist' : `has version ${String(found)}`;
  throw new EngineError('conflict', `the document ${name} ${has}, expected ${String(expected)}`, {
    details: { name, found, expected },
  });
}
