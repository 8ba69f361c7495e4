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
export type {
  ApplyRecord,
  Candidate,
  FollowOutcome,
  FollowRequest,
  LeaderLog,
  LogBreak,
  LogEnd,
  LogHealth,
  SharedLog,
  TakeOver,
} from './shared-log.js';
export { MemorySharedLog, type MemorySharedLogDependencies } from './memory-shared-log.js';
export {
  MemoryLogHistory,
  MemoryPartitionLog,
  type MemoryPartitionLogDependencies,
} from './memory-partition-log.js';
