export { ScriptedWorker, type AskedRequest } from './scripted-worker.js';
export { workerContract, type WorkerHarness } from './worker-contract.js';
