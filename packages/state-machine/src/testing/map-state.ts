/** The whole state of a partition in maps: the plainest possible StateReader, for tests. */

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
import { notificationKey } from '@engine/domain';
import type { Mutation, StateReader } from '@engine/storage';

export class MapState implements StateReader {
  readonly rows = new Map<string, unknown>();

  apply(mutations: readonly Mutation[]): void {
    for (const mutation of mutations) {
      const place = placeOf(mutation);
      if (mutation.row === undefined) this.rows.delete(place);
      else this.rows.set(place, mutation.row);
    }
  }

  invocation(id: InvocationId): Invocation | undefined {
    return this.rows.get(`invocation ${id}`) as Invocation | undefined;
  }
  journalEntry(id: InvocationId, index: number): JournalEntry | undefined {
    return this.rows.get(`journal ${id} ${String(index)}`) as JournalEntry | undefined;
  }
  notification(id: InvocationId, of: NotificationId): NotificationIndexEntry | undefined {
    const row = this.rows.get(`notification ${id} ${notificationKey(of)}`);
    return row as NotificationIndexEntry | undefined;
  }
  objectLock(service: string, key: string): ObjectLock | undefined {
    return this.rows.get(`object-lock ${service} ${key}`) as ObjectLock | undefined;
  }
  inboxEntry(service: string, key: string, sequence: number): InboxEntry | undefined {
    const row = this.rows.get(`inbox ${service} ${key} ${String(sequence)}`);
    return row as InboxEntry | undefined;
  }
  state(service: string, key: string, stateKey: string): Uint8Array | undefined {
    return this.rows.get(`state ${service} ${key} ${stateKey}`) as Uint8Array | undefined;
  }
  stateDirectory(service: string, key: string): StateDirectory | undefined {
    return this.rows.get(`state-directory ${service} ${key}`) as StateDirectory | undefined;
  }
  promise(service: string, key: string, name: string): DurablePromise | undefined {
    return this.rows.get(`promise ${service} ${key} ${name}`) as DurablePromise | undefined;
  }
  promiseDirectory(service: string, key: string): PromiseDirectory | undefined {
    return this.rows.get(`promise-directory ${service} ${key}`) as PromiseDirectory | undefined;
  }
  outboxMessage(destination: PartitionId, sequence: number): PartitionMessage | undefined {
    const row = this.rows.get(`outbox ${String(destination)} ${String(sequence)}`);
    return row as PartitionMessage | undefined;
  }
  outboxCursor(destination: PartitionId): OutboxCursor | undefined {
    return this.rows.get(`outbox-cursor ${String(destination)}`) as OutboxCursor | undefined;
  }
  inbound(sender: PartitionId): number | undefined {
    return this.rows.get(`inbound ${String(sender)}`) as number | undefined;
  }
}

/** One text per row; the same text that the transcripts of scenarios show. */
export function placeOf(mutation: Mutation): string {
  switch (mutation.table) {
    case 'invocation':
    case 'active':
      return `${mutation.table} ${mutation.id}`;
    case 'journal':
      return `journal ${mutation.id} ${String(mutation.index)}`;
    case 'notification':
      return `notification ${mutation.id} ${notificationKey(mutation.notification)}`;
    case 'object-lock':
    case 'state-directory':
    case 'promise-directory':
      return `${mutation.table} ${mutation.service} ${mutation.key}`;
    case 'inbox':
      return `inbox ${mutation.service} ${mutation.key} ${String(mutation.sequence)}`;
    case 'state':
      return `state ${mutation.service} ${mutation.key} ${mutation.stateKey}`;
    case 'promise':
      return `promise ${mutation.service} ${mutation.key} ${mutation.name}`;
    case 'timer': {
      const { dueAt, kind, invocationId, index } = mutation.key;
      return `timer ${kind} ${invocationId} ${String(index)} at ${String(dueAt)}`;
    }
    case 'outbox':
      return `outbox ${String(mutation.destination)} ${String(mutation.sequence)}`;
    case 'outbox-cursor':
      return `outbox-cursor ${String(mutation.destination)}`;
    case 'inbound':
      return `inbound ${String(mutation.sender)}`;
  }
}
