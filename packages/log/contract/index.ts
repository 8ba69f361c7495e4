export { partitionLogContract, type LogHarness } from './partition-log-contract.js';
