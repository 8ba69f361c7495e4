export { kvStoreContract, type KvHarness } from './kv-store-contract.js';
export { rangeReaderContract } from './range-reader-contract.js';
