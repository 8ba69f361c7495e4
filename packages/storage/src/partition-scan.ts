/**
 * Pages over the committed rows of a partition, for start-up and introspection. Each page is one range read as of one moment;
 * pages follow each other by key, so rows that come and go between them may be seen or not.
 */

import type {
  Invocation,
  InvocationId,
  JournalEntry,
  PartitionId,
  PartitionMessage,
  Timer,
  TimerKey,
} from '@engine/domain';

import { storedBytes } from './chunks.js';
import { KeyWriter } from './keys/key-writer.js';
import type { KvEntry, KvReader } from './kv-store.js';
import { prefixEnd, type PartitionPlace } from './prefixes.js';
import { TableStore } from './table-store.js';
import { activeTable } from './tables/active.js';
import { inboxTable, type InboxKey } from './tables/inbox.js';
import { invocationTable } from './tables/invocation.js';
import { journalTable, type JournalKey } from './tables/journal.js';
import { objectLockTable, type ObjectKey } from './tables/object-lock.js';
import { outboxTable } from './tables/outbox.js';
import { promiseTable, type PromiseKey } from './tables/promise.js';
import { stateTable, type StateKey } from './tables/state.js';
import type { Table } from './tables/table.js';
import { timerTable } from './tables/timer.js';

/** A row with its key. */
export interface Keyed<Key, Row> {
  readonly key: Key;
  readonly row: Row;
}

/** Ends a page early: rows may be large. */
export interface PageSize {
  readonly rowsMax: number;
  /** Stored bytes; the first row is there in any case. */
  readonly bytesMax: number;
}

/** A page that may be shorter than was asked for. */
export interface SizedPage<Key, Row> {
  readonly rows: readonly Keyed<Key, Row>[];
  /** False when the range ends with these rows. */
  readonly hasMore: boolean;
}

/** Whose state is meant: everybody's, that of a service, or that of one of its keys. */
export interface StateOwner {
  readonly service?: string | undefined;
  /** Counts only together with `service`. */
  readonly key?: string | undefined;
}

type Part = (keys: KeyWriter) => unknown;

interface Page<Key, Row> {
  readonly table: Table<Key, Row>;
  /** Leading parts that all keys share; absent = the whole table. */
  readonly within?: Part | undefined;
  /** Exclusive. */
  readonly after?: Key | undefined;
  /** Inclusive start, as leading parts of a key. */
  readonly from?: Part | undefined;
  readonly limit: number;
}

export class PartitionScan {
  readonly #store: KvReader;
  readonly #keys: KeyWriter;

  constructor(place: PartitionPlace, store: KvReader) {
    this.#store = store;
    this.#keys = new KeyWriter(place);
  }

  /** Invocations whose attempts a new leader starts, behind `after`. */
  async active(after: InvocationId | undefined, limit: number): Promise<readonly InvocationId[]> {
    const page = await this.#page({ table: activeTable, after: keyOf(after), limit });
    return page.map(({ key }) => key.id);
  }

  /** Timers behind `after`, in the order in which they are due. */
  timers(after: TimerKey | undefined, limit: number): Promise<readonly Keyed<TimerKey, Timer>[]> {
    return this.#page({ table: timerTable, after, limit });
  }

  /** Messages to one destination with sequence ≥ `first`. */
  async outbox(
    destination: PartitionId,
    first: number,
    limit: number,
  ): Promise<readonly { readonly sequence: number; readonly message: PartitionMessage }[]> {
    const page = await this.#page({
      table: outboxTable,
      within: (keys) => keys.u16(destination),
      from: (keys) => keys.u16(destination).number(first),
      limit,
    });
    return page.map(({ key, row }) => ({ sequence: key.sequence, message: row }));
  }

  /** Invocations behind `after`, in the order of the store: by the time in their ids. */
  async invocations(
    after: InvocationId | undefined,
    limit: number,
  ): Promise<readonly { readonly id: InvocationId; readonly invocation: Invocation }[]> {
    const page = await this.#page({ table: invocationTable, after: keyOf(after), limit });
    return page.map(({ key, row }) => ({ id: key.id, invocation: row }));
  }

  /** One invocation, by a point read. */
  invocation(id: InvocationId): Invocation | undefined {
    return new TableStore(invocationTable, this.#store, this.#keys).read({ id }).row;
  }

  /** Journal entries of one invocation with index ≥ `first`. */
  async journal(
    id: InvocationId,
    first: number,
    limit: number,
  ): Promise<readonly { readonly index: number; readonly entry: JournalEntry }[]> {
    const page = await this.#page({
      table: journalTable,
      within: (keys) => keys.invocationId(id),
      from: (keys) => keys.invocationId(id).u32(first),
      limit,
    });
    return page.map(({ key, row }) => ({ index: key.index, entry: row }));
  }

  /** Journal entries behind `after`: of one invocation, or of all when `id` is undefined. */
  journals(
    id: InvocationId | undefined,
    after: JournalKey | undefined,
    size: PageSize,
  ): Promise<SizedPage<JournalKey, JournalEntry>> {
    const part = (keys: KeyWriter): unknown => (id === undefined ? keys : keys.invocationId(id));
    return this.#sizedPage({ table: journalTable, within: part, after, limit: size.rowsMax }, size);
  }

  /** State values behind `after`, of one owner: one range. */
  state(
    { service, key }: StateOwner,
    after: StateKey | undefined,
    size: PageSize,
  ): Promise<SizedPage<StateKey, Uint8Array>> {
    const part = (keys: KeyWriter): unknown => {
      if (service === undefined) return keys;
      return key === undefined ? keys.text(service) : keys.text(service).text(key);
    };
    return this.#sizedPage({ table: stateTable, within: part, after, limit: size.rowsMax }, size);
  }

  /** Promises: of one workflow id, or of all when `object` is undefined. */
  promises(object: ObjectKey | undefined, after: PromiseKey | undefined, limit: number) {
    return this.#page({ table: promiseTable, within: within(object), after, limit });
  }

  /** Held locks of object keys. */
  locks(after: ObjectKey | undefined, limit: number) {
    return this.#page({ table: objectLockTable, after, limit });
  }

  /** Inbox entries: of one object key, or of all when `object` is undefined. */
  inbox(object: ObjectKey | undefined, after: InboxKey | undefined, limit: number) {
    return this.#page({ table: inboxTable, within: within(object), after, limit });
  }

  async #page<Key, Row>(page: Page<Key, Row>): Promise<readonly Keyed<Key, Row>[]> {
    const entries = await this.#entries(page);
    const stored = new TableStore(page.table, this.#store, this.#keys);
    return entries.map((entry) => stored.decodeEntry(entry));
  }

  async #sizedPage<Key, Row>(
    page: Page<Key, Row>,
    { bytesMax }: PageSize,
  ): Promise<SizedPage<Key, Row>> {
    const entries = await this.#entries(page);
    const stored = new TableStore(page.table, this.#store, this.#keys);
    const rows: Keyed<Key, Row>[] = [];
    let bytes = 0;
    for (const entry of entries) {
      bytes += storedBytes(entry.value);
      if (rows.length > 0 && bytes > bytesMax) return { rows, hasMore: true };
      rows.push(stored.decodeEntry(entry));
    }
    return { rows, hasMore: entries.length === page.limit };
  }

  #entries<Key, Row>(page: Page<Key, Row>): Promise<readonly KvEntry[]> {
    const { table, after, limit } = page;
    const bounds = this.#key(table, page.within);
    const gte =
      after === undefined ? this.#key(table, page.from ?? page.within) : this.#behind(table, after);
    return this.#store.scan({ gte, lt: prefixEnd(bounds), limit });
  }

  #key<Key, Row>(table: Table<Key, Row>, part: Part | undefined): Uint8Array {
    part?.(this.#keys.begin(table.number));
    return part === undefined
      ? this.#keys.begin(table.number).full().slice()
      : this.#keys.full().slice();
  }

  /** The smallest key above that of `after`. */
  #behind<Key, Row>(table: Table<Key, Row>, after: Key): Uint8Array {
    table.writeKey(after, this.#keys.begin(table.number));
    return this.#keys.u8(0).full().slice();
  }
}

function keyOf(id: InvocationId | undefined): { readonly id: InvocationId } | undefined {
  return id === undefined ? undefined : { id };
}

function within(object: ObjectKey | undefined): Part | undefined {
  if (object === undefined) return undefined;
  return (keys) => keys.text(object.service).text(object.key);
}
