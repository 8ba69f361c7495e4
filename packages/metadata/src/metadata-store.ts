/** Port of the versioned documents of a cluster: compare-and-set, watch. */

export interface MetadataEntry {
  readonly value: Uint8Array;
  /** Grows with every change of the document; says nothing about other documents. */
  readonly version: bigint;
}

/** What a writer believes to replace. */
export type ExpectedVersion = bigint | 'absent';

export interface MetadataStore {
  /** The newest entry, undefined when the document was never written. */
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
}
