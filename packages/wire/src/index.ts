export type { BinaryWriter, RowCodec } from './codec.js';
export { invocationRow, timerRow } from './store/invocation.js';
export { journalRow } from './store/journal.js';
export { inboundRow, outboxCursorRow, outboxRow } from './store/message.js';
export { notificationIndexRow } from './store/notification.js';
export {
  inboxRow,
  objectLockRow,
  promiseDirectoryRow,
  promiseRow,
  stateDirectoryRow,
  stateRow,
} from './store/object.js';
export {
  MutationWriter,
  NO_MUTATIONS,
  visitMutations,
  type EncodedMutations,
} from './log/mutations.js';
export {
  announcementRow,
  chainLinkRow,
  generationRow,
  positionRow,
  recordRow,
  recordTimeRow,
  type LogAnnouncement,
  type LogMessage,
  type StoredChainLink,
  type StoredPosition,
} from './log/record.js';
export {
  partitionAnswerFromWire,
  partitionAnswerToWire,
  partitionRequestFromWire,
  partitionRequestToWire,
} from './worker/request.js';
export {
  messageAckFromWire,
  messageAckToWire,
  messageBatchFromWire,
  messageBatchToWire,
} from './worker/peer.js';
export {
  journalSnapshotFromWire,
  journalSnapshotToWire,
  snapshotFromWire,
  snapshotToWire,
  stateSnapshotFromWire,
  stateSnapshotToWire,
  wireSizeOf,
} from './worker/snapshot.js';
export { appliedFromWire, appliedToWire, reportsFromWire, reportsToWire } from './node/control.js';
export type * as wire from './gen/engine/worker/v1/worker.js';
export { WorkerServiceDefinition } from './gen/engine/worker/v1/worker.js';
export type * as nodeWire from './gen/engine/node/v1/node.js';
export { NodeServiceDefinition } from './gen/engine/node/v1/node.js';
export {
  IRREVOCABLE,
  type PartitionChannel,
  type SentRequest,
} from './services/partition-channel.js';
export type {
  AppliedPosition,
  NodeControl,
  NodePeers,
  SchemaFollower,
} from './services/node-control.js';
export type { MessageAck, MessageBatch, PartitionPeer } from './services/partition-peer.js';
export type {
  InvocationScan,
  Awaiting,
  InvocationSnapshot,
  LiveAttempt,
  ScanOptions,
} from './services/invocation-scan.js';
export { shownStatus, SHOWN_STATUSES, type ShownStatus } from './services/invocation-status.js';
export type {
  JournalPosition,
  JournalScan,
  JournalScanOptions,
  JournalSnapshot,
} from './services/journal-scan.js';
export type {
  StatePosition,
  StateScan,
  StateScanOptions,
  StateSnapshot,
} from './services/state-scan.js';
export { encodeRow } from './encode-row.js';
