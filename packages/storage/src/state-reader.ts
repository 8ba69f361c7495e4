/** Point reads that decisions rest on: synchronous, always of the newest decided state. */

import type {
  DurablePromise,
  InboxEntry,
  Invocation,
  InvocationId,
  JournalEntry,
  NotificationId,
  NotificationIndexEntry,
  ObjectLock,
  OutboxCursor,
  PartitionId,
  PartitionMessage,
  PromiseDirectory,
  StateDirectory,
} from '@engine/domain';

export interface StateReader {
  invocation(id: InvocationId): Invocation | undefined;
  journalEntry(id: InvocationId, index: number): JournalEntry | undefined;
  notification(id: InvocationId, notification: NotificationId): NotificationIndexEntry | undefined;
  objectLock(service: string, key: string): ObjectLock | undefined;
  inboxEntry(service: string, key: string, sequence: number): InboxEntry | undefined;
  state(service: string, key: string, stateKey: string): Uint8Array | undefined;
  stateDirectory(service: string, key: string): StateDirectory | undefined;
  promise(service: string, key: string, name: string): DurablePromise | undefined;
  promiseDirectory(service: string, key: string): PromiseDirectory | undefined;
  outboxMessage(destination: PartitionId, sequence: number): PartitionMessage | undefined;
  outboxCursor(destination: PartitionId): OutboxCursor | undefined;
  inbound(sender: PartitionId): number | undefined;
}
