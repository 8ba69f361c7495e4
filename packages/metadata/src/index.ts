export type { ExpectedVersion, MetadataEntry, MetadataStore } from './metadata-store.js';
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
export { CLUSTER_DOCUMENT, provisionCluster, type Cluster } from './documents/cluster.js';
export { decodeSchema, encodeSchema, SCHEMA_DOCUMENT } from './documents/schema.js';
export { SchemaRegistry, type SchemaRegistryDependencies } from './schema-registry.js';
