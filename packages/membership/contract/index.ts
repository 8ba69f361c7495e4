export { FaultyMetadataStore, type StoreFault } from './faulty-metadata-store.js';
export { VirtualTime } from './virtual-time.js';
export { BenchNode, MemberBench, nodeId, tableOf, TTL_MS } from './member-bench.js';
