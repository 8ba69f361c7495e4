export type { Mutation, TableName } from './mutation.js';
export type { StateReader } from './state-reader.js';
export type {
  KvBatch,
  KvEntry,
  KvRange,
  KvReader,
  KvStore,
  RangeReader,
  RowSink,
} from './kv-store.js';
export { MemoryKvStore, type MemoryKvStoreOptions, type PendingWrite } from './memory-kv-store.js';
export { PartitionState, type PartitionStateOptions } from './partition-state.js';
export {
  PartitionScan,
  type Keyed,
  type PageSize,
  type SizedPage,
  type StateOwner,
} from './partition-scan.js';
export { CACHE_LIMITS_DEFAULT, type CacheLimits } from './row-cache.js';
export type { InboxKey } from './tables/inbox.js';
export type { ObjectKey } from './tables/object-lock.js';
export type { PromiseKey } from './tables/promise.js';
export type { StateKey } from './tables/state.js';
export {
  generationKey,
  LAYOUTS,
  PARTITION_FORMAT,
  readsPartitionFormat,
  PARTITION_PREFIX_BYTES,
  partitionPrefix,
  prefixEnd,
  TABLES,
  type PartitionPlace,
} from './prefixes.js';
