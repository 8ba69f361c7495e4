import { leaseContract, metadataStoreContract } from '../contract/index.js';
import { MemoryMetadataStore } from './memory-metadata-store.js';

const makeHarness = () =>
  Promise.resolve({ store: new MemoryMetadataStore(), dispose: () => Promise.resolve() });

metadataStoreContract('MemoryMetadataStore', makeHarness);
leaseContract('MemoryMetadataStore', makeHarness);
