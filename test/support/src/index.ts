export { Child } from './child.js';
export { EngineProcess } from './engine-process.js';
export { freePort } from './free-port.js';
export { LocalCluster } from './local-cluster/local-cluster.js';
export type { ClusterRole, LocalClusterOptions } from './local-cluster/options.js';
export { NatsServers, natsServerPath, type NatsServersOptions } from './nats-servers.js';
export { cpuSeconds, peakMemoryMib } from './process-figures.js';
export { waitUntil } from './wait-until.js';
