export type { ObjectStore } from './object-store.js';
export {
  MemoryObjectStore,
  type MemoryObjectStoreOptions,
  type ObjectCall,
} from './memory-object-store.js';
export { requireObjectName } from './object-names.js';
export { OBJECT_BYTES_MAX } from './limits.js';
export type { SnapshotEvent } from './events.js';
export type { Snapshot, SnapshotManifest } from './manifest.js';
export {
  PartitionSnapshots,
  type PartitionSnapshotsDependencies,
  type PartitionSnapshotsOptions,
  type RestoreTarget,
  type TakeRequest,
} from './partition-snapshots.js';
export { type SnapshotPolicy } from './policy.js';
export {
  SnapshotKeeper,
  type KeptReplicas,
  type SnapshotKeeperDependencies,
} from './snapshot-keeper.js';
