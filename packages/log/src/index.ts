export type { PartitionLog } from './partition-log.js';
export {
  assertContinues,
  chainAfter,
  LOG_START,
  RECORD_FORMAT,
  RecordWriter,
  type Checksum,
  type LogPosition,
  type LogRecord,
} from './record.js';
export {
  MemoryLogHistory,
  MemoryPartitionLog,
  type MemoryPartitionLogDependencies,
} from './memory-partition-log.js';
