/** One process's way to a MetadataStore, which a test can break. */
import type { ExpectedVersion, MetadataEntry, MetadataStore, NamedEntry } from '@engine/metadata';
/** `lost-answers`: what is asked for happens, and nobody learns it. */
export type StoreFault = 'none' | 'refusing' | 'hanging' | 'lost-answers';
export declare class FaultyMetadataStore implements MetadataStore {
  #private;
  fault: StoreFault;
  /** Writes that the store has taken, by document. */
  readonly puts: string[];
  constructor(store: MetadataStore);
  get(name: string): Promise<MetadataEntry | undefined>;
  put(name: string, value: Uint8Array, expected: ExpectedVersion): Promise<bigint>;
  watch(name: string, listener: (entry: MetadataEntry) => void): Disposable;
  list(prefix: string): Promise<readonly NamedEntry[]>;
  /** Watches tell what they kept back; what hangs hangs for ever. */
  heal(): void;
}
//# sourceMappingURL=faulty-metadata-store.d.ts.map
