/**
 * The state of one partition as its leader decides on it. Decided rows are visible at once; `seal` turns them into the bytes
 * of one record; after `committed` they are ordinary cached rows. At most one record is in flight. A record that fails has no
 * way back: the process drops this object, or exits, and begins again from the store.
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
} from '@engine/domain';
import { assert, assertNever } from '@engine/stdx';
import { MutationWriter, recordTimeRow, type EncodedMutations } from '@engine/wire';

import { KeyWriter } from './keys/key-writer.js';
import type { KvReader } from './kv-store.js';
import type { Mutation } from './mutation.js';
import { TABLES, type PartitionPlace } from './prefixes.js';
import { CACHE_LIMITS_DEFAULT, type CacheLimits } from './row-cache.js';
import type { StateReader } from './state-reader.js';
import { TableState, type RecordNumbers } from './table-state.js';
import { TableStore } from './table-store.js';
import { activeTable } from './tables/active.js';
import { inboundTable } from './tables/inbound.js';
import { inboxTable } from './tables/inbox.js';
import { invocationTable } from './tables/invocation.js';
import { journalTable } from './tables/journal.js';
import { notificationTable } from './tables/notification.js';
import { objectLockTable } from './tables/object-lock.js';
import { outboxCursorTable } from './tables/outbox-cursor.js';
import { outboxTable } from './tables/outbox.js';
import { promiseDirectoryTable } from './tables/promise-directory.js';
import { promiseTable } from './tables/promise.js';
import { stateDirectoryTable } from './tables/state-directory.js';
import { stateTable } from './tables/state.js';
import type { Table } from './tables/table.js';
import { timerTable } from './tables/timer.js';

export interface PartitionStateOptions {
  readonly place: PartitionPlace;
  /** Per table. */
  readonly cacheLimits?: CacheLimits;
}

/** One writer for all partitions of the process: sealing is synchronous. */
const writer = new MutationWriter();

export class PartitionState implements StateReader {
  readonly #numbers: RecordNumbers = { open: 1, committed: 0 };
  readonly #store: KvReader;
  readonly #keys: KeyWriter;
  readonly #tables: ReturnType<typeof tablesOf>;
  readonly #inSealOrder: readonly { seal(writer: MutationWriter): void }[];
  #openSizeBytes = 0;
  #openCount = 0;

  constructor(options: PartitionStateOptions, store: KvReader) {
    const keys = new KeyWriter(options.place);
    this.#store = store;
    this.#keys = keys;
    const cacheLimits = options.cacheLimits ?? CACHE_LIMITS_DEFAULT;
    this.#tables = tablesOf(
      (table) => new TableState(new TableStore(table, store, keys), this.#numbers, cacheLimits),
    );
    this.#inSealOrder = Object.values(this.#tables);
  }

  /** Mutations applied since the last seal. */
  get openCount(): number {
    return this.#openCount;
  }

  /** About how large the open record is; a commit group closes at limits.RECORD_SIZE_BYTES_MAX. */
  get openSizeBytes(): number {
    return this.#openSizeBytes;
  }

  /** True between `seal` and `committed`. */
  get isSealed(): boolean {
    return this.#numbers.committed < this.#numbers.open - 1;
  }

  /** Effects: the rows are what reads return from now on. */
  apply(mutations: readonly Mutation[]): void {
    for (const mutation of mutations) this.#openSizeBytes += this.#set(mutation);
    this.#openCount += mutations.length;
  }

  /** Time of the last durable record that was sealed with one, in ms since 1970; 0 when there is none. */
  get recordTime(): number {
    const bytes = this.#store.get(this.#keys.begin(TABLES['record-time']).full());
    return bytes === undefined ? 0 : recordTimeRow.read(bytes);
  }

  /**
   * Encodes what is open: each key once, with its last row. Nothing open gives an empty record. `recordTime`, if given, is what
   * `recordTime` returns once the record is durable.
   */
  seal(recordTime?: number): EncodedMutations {
    assert(!this.isSealed, 'one record is in flight at most');
    try {
      for (const table of this.#inSealOrder) table.seal(writer);
      if (recordTime !== undefined) {
        const key = this.#keys.begin(TABLES['record-time']).relative();
        writer.putRow(key, recordTime, recordTimeRow);
      }
    } catch (error) {
      writer.discard();
      throw error;
    }
    this.#numbers.open += 1;
    this.#openSizeBytes = 0;
    this.#openCount = 0;
    return writer.finish();
  }

  /** Call it once the store has applied the sealed record. */
  committed(): void {
    assert(this.isSealed, 'a record is committed after it was sealed');
    this.#numbers.committed = this.#numbers.open - 1;
  }

  invocation(id: InvocationId): Invocation | undefined {
    return this.#tables.invocation.get({ id });
  }

  journalEntry(id: InvocationId, index: number): JournalEntry | undefined {
    return this.#tables.journal.get({ id, index });
  }

  notification(id: InvocationId, notification: NotificationId): NotificationIndexEntry | undefined {
    return this.#tables.notification.get({ id, notification });
  }

  objectLock(service: string, key: string): ObjectLock | undefined {
    return this.#tables.objectLock.get({ service, key });
  }

  inboxEntry(service: string, key: string, sequence: number): InboxEntry | undefined {
    return this.#tables.inbox.get({ service, key, sequence });
  }

  state(service: string, key: string, stateKey: string): Uint8Array | undefined {
    return this.#tables.state.get({ service, key, stateKey });
  }

  stateDirectory(service: string, key: string): StateDirectory | undefined {
    return this.#tables.stateDirectory.get({ service, key });
  }

  promise(service: string, key: string, name: string): DurablePromise | undefined {
    return this.#tables.promise.get({ service, key, name });
  }

  promiseDirectory(service: string, key: string): PromiseDirectory | undefined {
    return this.#tables.promiseDirectory.get({ service, key });
  }

  outboxMessage(destination: PartitionId, sequence: number): PartitionMessage | undefined {
    return this.#tables.outbox.get({ destination, sequence });
  }

  outboxCursor(destination: PartitionId): OutboxCursor | undefined {
    return this.#tables.outboxCursor.get({ destination });
  }

  inbound(sender: PartitionId): number | undefined {
    return this.#tables.inbound.get({ sender });
  }

  #set(mutation: Mutation): number {
    const tables = this.#tables;
    switch (mutation.table) {
      case 'invocation':
        return tables.invocation.set(mutation, mutation.row);
      case 'active':
        return tables.active.set(mutation, mutation.row);
      case 'journal':
        return tables.journal.set(mutation, mutation.row);
      case 'notification':
        return tables.notification.set(mutation, mutation.row);
      case 'object-lock':
        return tables.objectLock.set(mutation, mutation.row);
      case 'inbox':
        return tables.inbox.set(mutation, mutation.row);
      case 'state':
        return tables.state.set(mutation, mutation.row);
      case 'state-directory':
        return tables.stateDirectory.set(mutation, mutation.row);
      case 'promise':
        return tables.promise.set(mutation, mutation.row);
      case 'promise-directory':
        return tables.promiseDirectory.set(mutation, mutation.row);
      case 'timer':
        return tables.timer.set(mutation.key, mutation.row);
      case 'outbox':
        return tables.outbox.set(mutation, mutation.row);
      case 'outbox-cursor':
        return tables.outboxCursor.set(mutation, mutation.row);
      case 'inbound':
        return tables.inbound.set(mutation, mutation.row);
      default:
        return assertNever(mutation, 'mutation of an unknown table');
    }
  }
}

function tablesOf(make: <Key, Row>(table: Table<Key, Row>) => TableState<Key, Row>) {
  return {
    invocation: make(invocationTable),
    active: make(activeTable),
    journal: make(journalTable),
    notification: make(notificationTable),
    objectLock: make(objectLockTable),
    inbox: make(inboxTable),
    state: make(stateTable),
    stateDirectory: make(stateDirectoryTable),
    promise: make(promiseTable),
    promiseDirectory: make(promiseDirectoryTable),
    timer: make(timerTable),
    outbox: make(outboxTable),
    outboxCursor: make(outboxCursorTable),
    inbound: make(inboundTable),
  };
}
