export { kvStoreContract, type KvHarness } from './kv-store-contract.js';
