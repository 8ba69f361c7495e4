export { partitionLogContract, type LogHarness } from './partition-log-contract.js';
export { sharedLogContract, type SharedLogHarness } from './shared-log-contract.js';
export { ReplicaStore, requireLeading } from './shared-log-contract.js';
