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
export { Lease, type LeaseDependencies, type LeaseRequest } from './leases/lease.js';
export { LeaseObserver, type LeaseObserverDependencies } from './leases/lease-observer.js';
export type { LeaseState, ObservedLease } from './leases/lease-table.js';
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
