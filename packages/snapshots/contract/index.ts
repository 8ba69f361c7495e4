export { objectStoreContract, type ObjectStoreHarness } from './object-store-contract.js';
