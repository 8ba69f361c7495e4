/**
 * Port of the versioned documents of a cluster: compare-and-set, watch, list. Leases stand on it (`leases/`).
 *
 * Names are words joined by `/`, such as `cluster` or `lease/node/worker-1`. When the store cannot be reached every call rejects with
 * EngineError `unavailable`; a `put` that does so may have changed the document, or may yet.
 */

export interface MetadataEntry {
  readonly value: Uint8Array;
  /** Grows with every change of the document; says nothing about other documents. */
  readonly version: bigint;
}

/** What a writer believes to replace. */
export type ExpectedVersion = bigint | 'absent';

export interface NamedEntry extends MetadataEntry {
  readonly name: string;
}

export interface MetadataStore {
  /**
   * The newest entry, undefined when the document was never written. Sees every put that was acknowledged before the call, by
   * whatever process.
   */
  get(name: string): Promise<MetadataEntry | undefined>;
  /**
   * Replaces the document if its version is `expected`. Returns the new version, after the entry is durable.
   *
   * Throws EngineError `conflict` when the document has another version; nothing is changed then.
   */
  put(name: string, value: Uint8Array, expected: ExpectedVersion): Promise<bigint>;
  /**
   * Calls `listener` with the entry as it is, if there is one, and after each change: later, never while `watch` or `put` runs,
   * in the order of the versions; entries that were replaced meanwhile may be left out. Disposing ends it.
   */
  watch(name: string, listener: (entry: MetadataEntry) => void): Disposable;
  /**
   * The documents whose names begin with `prefix`, which ends with `/`, by name. Each is as `get` would give it; together they are
   * of no one moment.
   */
  list(prefix: string): Promise<readonly NamedEntry[]>;
}
