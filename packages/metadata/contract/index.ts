export { metadataStoreContract, type MetadataHarness } from './metadata-store-contract.js';
