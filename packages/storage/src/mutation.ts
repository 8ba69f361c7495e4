/**
 * Mutations: puts (row given) and deletes (row undefined) of whole rows. Applying one twice is harmless, and within a record
 * the last one on a key wins.
 */

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
  Timer,
  TimerKey,
} from '@engine/domain';

export type Mutation =
  | {
      readonly table: 'invocation';
      readonly id: InvocationId;
      readonly row: Invocation | undefined;
    }
  /** Index of the invocations whose attempts a new leader must start again: exactly those with status `invoked`. */
  | { readonly table: 'active'; readonly id: InvocationId; readonly row: true | undefined }
  | {
      readonly table: 'journal';
      readonly id: InvocationId;
      readonly index: number;
      readonly row: JournalEntry | undefined;
    }
  | {
      readonly table: 'notification';
      readonly id: InvocationId;
      readonly notification: NotificationId;
      readonly row: NotificationIndexEntry | undefined;
    }
  | {
      readonly table: 'object-lock';
      readonly service: string;
      readonly key: string;
      readonly row: ObjectLock | undefined;
    }
  | {
      readonly table: 'inbox';
      readonly service: string;
      readonly key: string;
      readonly sequence: number;
      readonly row: InboxEntry | undefined;
    }
  | {
      readonly table: 'state';
      readonly service: string;
      readonly key: string;
      readonly stateKey: string;
      readonly row: Uint8Array | undefined;
    }
  | {
      readonly table: 'state-directory';
      readonly service: string;
      readonly key: string;
      readonly row: StateDirectory | undefined;
    }
  | {
      readonly table: 'promise';
      readonly service: string;
      readonly key: string;
      readonly name: string;
      readonly row: DurablePromise | undefined;
    }
  | {
      readonly table: 'promise-directory';
      readonly service: string;
      readonly key: string;
      readonly row: PromiseDirectory | undefined;
    }
  | { readonly table: 'timer'; readonly key: TimerKey; readonly row: Timer | undefined }
  | {
      readonly table: 'outbox';
      readonly destination: PartitionId;
      readonly sequence: number;
      readonly row: PartitionMessage | undefined;
    }
  | {
      readonly table: 'outbox-cursor';
      readonly destination: PartitionId;
      readonly row: OutboxCursor | undefined;
    }
  /** Highest message sequence applied from another partition. */
  | {
      readonly table: 'inbound';
      readonly sender: PartitionId;
      readonly row: number | undefined;
    };

export type TableName = Mutation['table'];
