export { BreakableLine } from './breakable-line.js';
export { nodeContract, type NodeHarness } from './node-contract.js';
export {
  addressOf,
  callerOf,
  introductionOf,
  RpcNode,
  type CallerOptions,
  type NodeOptions,
} from './rpc-node.js';
export { ScriptedNode, type AskedStop } from './scripted-node.js';
export { ScriptedWorker, type AskedRequest } from './scripted-worker.js';
export { until } from './until.js';
export { workerContract, type WorkerHarness } from './worker-contract.js';
