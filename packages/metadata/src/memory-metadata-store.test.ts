import { metadataStoreContract } from '../contract/index.js';
import { MemoryMetadataStore } from './memory-metadata-store.js';

metadataStoreContract('MemoryMetadataStore', () =>
  Promise.resolve({ store: new MemoryMetadataStore(), dispose: () => Promise.resolve() }),
);
