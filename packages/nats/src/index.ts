export { Nats, type LogOptions, type NatsDependencies } from './nats.js';
export type { NatsOptions, NatsSecurity } from './connection.js';
export { findSync, requireSync, type SyncFinding } from './server-checks.js';
export { StreamLog } from './log/stream-log.js';
export type { ReplicaCount } from './log/stream-config.js';
export { KvMetadataStore, type KvMetadataOptions } from './metadata/kv-metadata-store.js';
export { JetStreamObjectStore, type ObjectStoreOptions } from './objects/jetstream-object-store.js';
export type { LogIdentity } from './subjects.js';
