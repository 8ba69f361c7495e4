export { Child } from './child.js';
export { EngineProcess } from './engine-process.js';
export { freePort } from './free-port.js';
export { NatsServers, natsServerPath, type NatsServersOptions } from './nats-servers.js';
export { waitUntil } from './wait-until.js';
