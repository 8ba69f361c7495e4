export { DEFAULT_ADMIN_CONFIG, type AdminConfig } from './config-shape.js';
export type { AdminDependencies, SchemaDocument } from './context.js';
export type {
  AlarmKind,
  ClusterAlarm,
  ClusterOperations,
  ClusterStatus,
  NodeStatus,
  PartitionStatus,
  ReplicaStatus,
} from './cluster/cluster-status.js';
export {
  ControllerDriver,
  type ControllerDriverDependencies,
  type ControllerDriverOptions,
} from './cluster/controller-driver.js';
export { DrivenCluster } from './cluster/driven-cluster.js';
export { LoneNode, type LoneNodeOptions } from './cluster/lone-node.js';
export type { Probe, ProbeOutcome } from './cluster/tcp-probe.js';
export { Admin } from './service.js';
