export {
  workerOptions,
  ABORT_TIMEOUT_MS,
  INACTIVITY_TIMEOUT_MS,
  type WorkerOptions,
  type WorkerSettings,
} from './config-shape.js';
export type { PartitionHome, WorkerContext } from './context.js';
export { Hosting, type HostingDependencies, type HostingOptions } from './hosting/hosting.js';
export type { PartitionReplica, ReplicaStores } from './hosting/replica-stores.js';
export type { InvokerOptions } from './invoker/attempt-room.js';
export type {
  DeploymentTransport,
  Exchange,
  ExchangeListener,
  ExchangeRequest,
} from './invoker/deployment-transport.js';
export {
  EndpointTransport,
  type EndpointTransportDependencies,
} from './invoker/endpoint-transport.js';
export type { PartitionSeats } from './partition-seats.js';
export { Worker } from './service.js';
