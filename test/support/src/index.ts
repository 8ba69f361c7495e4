export { Child } from './child.js';
export { EngineProcess } from './engine-process.js';
export { freePort } from './free-port.js';
export { waitUntil } from './wait-until.js';
