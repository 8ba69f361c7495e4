export {
  LevelKvStore,
  WRITE_BUFFER_BYTES_DEFAULT,
  type LevelKvStoreOptions,
} from './level-kv-store.js';
export {
  checkDirectory,
  METADATA_STORE,
  PARTITION_STORE,
  STORE_FORMAT,
  type StoreKind,
} from './format.js';
export {
  EmbeddedLog,
  type EmbeddedLogDependencies,
  type EmbeddedLogOptions,
} from './embedded-log.js';
export { Replica, type ReplicaOptions } from './replica.js';
export { LevelMetadataStore, openMetadata, type OpenedMetadata } from './level-metadata-store.js';
