export { SimulatedStream, type StreamFaults } from './simulated-stream.js';
export { VirtualTime } from './virtual-time.js';
