export { SimulatedStream, type StreamFaults } from './simulated-stream.js';
export { VirtualTime } from './virtual-time.js';
export { decodeMessage, isLogBreak, RecordAssembler } from '../src/log/parts.js';
export type {
  AppendRequest,
  LogStream,
  StoredMessage,
  StreamState,
} from '../src/log/log-stream.js';
