export { metadataStoreContract, type MetadataHarness } from './metadata-store-contract.js';
export { leaseContract } from './lease-contract.js';
