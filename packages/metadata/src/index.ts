export type {
  ExpectedVersion,
  MetadataEntry,
  MetadataStore,
  NamedEntry,
} from './metadata-store.js';
export { MemoryMetadataStore, requireExpected } from './memory-metadata-store.js';
export { Watchers } from './watchers.js';
export {
  batchOperationDocument,
  decodeBatchOperation,
  encodeBatchOperation,
  type BatchCursor,
  type BatchFilter,
  type BatchOperation,
  type BatchSelection,
  type PlannedInvocation,
} from './documents/batch-operation.js';
export {
  CONTROLLER_LEASE,
  decodeLease,
  encodeLease,
  LEASE_PREFIX,
  NODE_LEASE_PREFIX,
  nodeLease,
  type LeaseDocument,
} from './leases/lease-document.js';
export { buryLease, Lease, type LeaseDependencies, type LeaseRequest } from './leases/lease.js';
export { LeaseHolder, type LeaseState } from './leases/lease-holder.js';
export {
  LeaseObserver,
  type LeaseObserverDependencies,
  type ObservedLease,
} from './leases/lease-observer.js';
export { leaseTimes, LEASE_TTL_MS_MIN, type LeaseTimes } from './leases/lease-times.js';
export { LeaseWatch, type LeaseSign, type Liveness } from './leases/lease-watch.js';
export type { AccessKind } from './leases/store-access.js';
export {
  CLUSTER_DOCUMENT,
  decodeCluster,
  encodeCluster,
  provisionCluster,
  type NewCluster,
} from './documents/cluster.js';
export { decodeNode, encodeNode, NODE_DOCUMENT_PREFIX, nodeDocument } from './documents/node.js';
export {
  decodePartitionTable,
  decodePlacementOrders,
  encodePartitionTable,
  encodePlacementOrders,
  PARTITION_TABLE_DOCUMENT,
  PLACEMENT_ORDERS_DOCUMENT,
} from './documents/partition-table.js';
export { decodeSchema, encodeSchema, SCHEMA_DOCUMENT } from './documents/schema.js';
export { SchemaRegistry, type SchemaRegistryDependencies } from './schema-registry.js';
