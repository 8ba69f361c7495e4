export {
  LevelKvStore,
  WRITE_BUFFER_BYTES_DEFAULT,
  type LevelKvStoreOptions,
} from './level-kv-store.js';
export {
  checkDirectory,
  METADATA_STORE,
  PARTITION_STORE,
  REPLICA_STORE,
  STORE_FORMAT,
  type StoreKind,
} from './format.js';
export {
  EmbeddedLog,
  type EmbeddedLogDependencies,
  type EmbeddedLogOptions,
} from './embedded-log.js';
export { Replica, type ReplicaOptions } from './replica.js';
export type { OpenReplica } from './replicas/open-replica.js';
export {
  LevelReplicaStores,
  type LevelReplicaStoresDependencies,
  type LevelReplicaStoresOptions,
  type ReplicaStoresEvent,
  type RestoreSource,
  type RestoreTarget,
} from './replicas/replica-stores.js';
export { LevelMetadataStore, openMetadata, type OpenedMetadata } from './level-metadata-store.js';
