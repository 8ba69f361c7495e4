/**
 * The rows of a store fit together: indexes say what rows say, journals have no holes, locks and inboxes agree, counters of
 * sender and receiver agree. Looked at after each crash and at the end; the end also wants nothing left over.
 */

import {
  isExclusive,
  isInFlight,
  toPartitionId,
  type InboxEntry,
  type Invocation,
  type InvocationId,
  type ObjectLock,
  type PartitionId,
  type TimerKey,
} from '@engine/domain';
import type { PartitionState } from '@engine/storage';

import type { FrozenPartition, RowsView } from '../simulator/rows-view.js';

/** More rows of one table than any run makes. */
const EVERYTHING = 1_000_000;

type Tell = (text: string) => void;

interface Rows {
  readonly partition: PartitionId;
  readonly state: PartitionState;
  readonly invocations: ReadonlyMap<InvocationId, Invocation>;
  readonly active: ReadonlySet<InvocationId>;
  readonly timers: readonly { readonly key: TimerKey; readonly incarnation: number }[];
  readonly locks: readonly {
    readonly service: string;
    readonly key: string;
    readonly lock: ObjectLock;
  }[];
  readonly inbox: readonly {
    readonly service: string;
    readonly key: string;
    readonly sequence: number;
    readonly entry: InboxEntry;
  }[];
  /** Invocations that have a journal. */
  readonly journals: ReadonlySet<InvocationId>;
}

/** Sentences about what does not fit together; resolves within the event that asked. */
export async function checkRows(
  view: RowsView,
  partitionCount: number,
): Promise<readonly string[]> {
  const found: string[] = [];
  const frozen = view.freeze();
  for (const partition of partitions(partitionCount)) {
    const { state } = frozen(partition);
    const rows = await readRows(partition, frozen(partition));
    const tell: Tell = (text) => found.push(`rows of partition ${String(partition)}: ${text}`);
    for (const [id, row] of rows.invocations) checkInvocation(rows, { id, row, tell });
    checkIndexes(rows, tell);
    for (const other of partitions(partitionCount)) {
      if (other === partition) continue;
      const receiver = frozen(other).state;
      checkOutbox({ sender: partition, state, destination: other, receiver, tell });
    }
  }
  return found;
}

/** What is left when every retention is over; objects keep their state. */
export async function checkEmpty(
  view: RowsView,
  partitionCount: number,
): Promise<readonly string[]> {
  const found: string[] = [];
  const frozen = view.freeze();
  for (const partition of partitions(partitionCount)) {
    const { state } = frozen(partition);
    const rows = await readRows(partition, frozen(partition));
    const left = {
      invocations: [...rows.invocations].map(
        ([id, row]) => `${id} ${row.status} ${row.target.service}/${row.target.handler}`,
      ),
      active: [...rows.active],
      // The sleep of an invocation that was ended from outside stays until it is due, and then means nothing.
      timers: rows.timers
        .filter(({ key }) => key.kind !== 'sleep' || rows.invocations.has(key.invocationId))
        .map(({ key }) => `${key.kind} of ${key.invocationId}`),
      locks: rows.locks.map(({ service, key }) => `${service}/${key}`),
      inbox: rows.inbox.map(({ service, key }) => `${service}/${key}`),
      journals: [...rows.journals],
      outbox: partitions(partitionCount).filter((other) => {
        const cursor = state.outboxCursor(other);
        return cursor !== undefined && cursor.first < cursor.next;
      }),
    };
    for (const [table, keys] of Object.entries(left)) {
      if (keys.length === 0) continue;
      const some = keys.slice(0, 3).join(', ');
      found.push(`partition ${String(partition)} keeps ${String(keys.length)} ${table}: ${some}`);
    }
  }
  return found;
}

async function readRows(partition: PartitionId, { scan, state }: FrozenPartition): Promise<Rows> {
  const invocations = await scan.invocations(undefined, EVERYTHING);
  const timers = await scan.timers(undefined, EVERYTHING);
  const locks = await scan.locks(undefined, EVERYTHING);
  const inbox = await scan.inbox(undefined, undefined, EVERYTHING);
  const whole = { rowsMax: EVERYTHING, bytesMax: Infinity };
  const journals = await scan.journals(undefined, undefined, whole);
  return {
    partition,
    state,
    invocations: new Map(invocations.map(({ id, invocation }) => [id, invocation])),
    active: new Set(await scan.active(undefined, EVERYTHING)),
    timers: timers.map(({ key, row }) => ({ key, incarnation: row.incarnation })),
    locks: locks.map(({ key, row }) => ({ ...key, lock: row })),
    inbox: inbox.map(({ key, row }) => ({ ...key, entry: row })),
    journals: new Set(journals.rows.map(({ key }) => key.id)),
  };
}

function checkInvocation(
  rows: Rows,
  { id, row, tell }: { readonly id: InvocationId; readonly row: Invocation; readonly tell: Tell },
): void {
  const say = (text: string): void => {
    tell(`${id} (${row.target.service}/${row.target.handler}, ${row.status}): ${text}`);
  };
  const hasTimer = (kind: TimerKey['kind'], dueAt?: number): boolean =>
    rows.timers.some(
      ({ key, incarnation }) =>
        key.invocationId === id &&
        key.kind === kind &&
        incarnation === row.incarnation &&
        (dueAt === undefined || key.dueAt === dueAt),
    );
  if (rows.active.has(id) !== (row.status === 'invoked')) say('the index of active work is wrong');
  if (row.status === 'scheduled' && !hasTimer('start', row.executionTime))
    say('it has no start timer');
  if (row.status === 'completed' && !hasTimer('purge')) say('it has no purge timer');
  const retryAt = row.retry?.nextAttemptAt;
  if (retryAt !== undefined && !hasTimer('retry', retryAt)) say('it has no retry timer');
  if (row.status !== 'completed') checkJournal(rows.state, { id, row, say });
  const { kind, service, key = '' } = row.target;
  if (!isExclusive(kind)) return;
  const lock = rows.state.objectLock(service, key);
  if (isInFlight(row.status) && lock?.holder !== id) say('it runs without its lock');
  if (row.status !== 'inboxed') return;
  const sequence = row.inboxSequence ?? -1;
  const isInPlace = lock !== undefined && lock.inboxHead <= sequence && sequence < lock.inboxTail;
  const entry = rows.state.inboxEntry(service, key, sequence);
  if (!isInPlace || entry?.kind !== 'invocation' || entry.invocationId !== id) {
    say('its place in the inbox is not there');
  }
}

function checkJournal(
  state: PartitionState,
  { id, row, say }: { readonly id: InvocationId; readonly row: Invocation; readonly say: Tell },
): void {
  let commands = 0;
  for (let index = 0; index < row.journalLength; index += 1) {
    const entry = state.journalEntry(id, index);
    if (entry === undefined) {
      say(`journal entry ${String(index)} is missing`);
      return;
    }
    if (entry.kind !== 'notification') commands += 1;
    else if (state.notification(id, entry.id) === undefined)
      say(`entry ${String(index)} has no index`);
  }
  if (state.journalEntry(id, row.journalLength) !== undefined)
    say('the journal goes on past its end');
  if (commands !== row.commandCount)
    say(`${String(commands)} commands are counted as ${String(row.commandCount)}`);
}

function checkIndexes(rows: Rows, tell: Tell): void {
  for (const id of rows.active) {
    if (!rows.invocations.has(id)) tell(`active ${id} does not exist`);
  }
  for (const { service, key, lock } of rows.locks) {
    const holder = rows.invocations.get(lock.holder);
    if (holder === undefined || !isInFlight(holder.status)) {
      tell(`${service}/${key} is held by ${lock.holder}, which is ${holder?.status ?? 'nobody'}`);
    }
  }
  checkInbox(rows, tell);
  for (const { key } of rows.timers) {
    if (key.kind !== 'sleep' && !rows.invocations.has(key.invocationId)) {
      tell(`a ${key.kind} timer for ${key.invocationId}, which does not exist`);
    }
  }
  for (const id of rows.journals) {
    if (!rows.invocations.has(id)) tell(`a journal of ${id}, which does not exist`);
  }
}

function checkInbox(rows: Rows, tell: Tell): void {
  for (const { service, key, lock } of rows.locks) {
    const waiting = rows.inbox.filter(
      (place) =>
        place.service === service && place.key === key && place.entry.kind === 'state-replacement',
    );
    if (waiting.length !== lock.replacements) {
      tell(
        `${service}/${key} counts ${String(lock.replacements)} new states, not ${String(waiting.length)}`,
      );
    }
  }
  for (const { service, key, sequence, entry } of rows.inbox) {
    const lock = rows.locks.find((held) => held.service === service && held.key === key)?.lock;
    if (lock === undefined || sequence < lock.inboxHead || sequence >= lock.inboxTail) {
      tell(`the inbox of ${service}/${key} has a place that nobody comes to`);
    }
    if (entry.kind === 'state-replacement') continue;
    const id = entry.invocationId;
    const row = rows.invocations.get(id);
    if (row?.status !== 'inboxed' || row.inboxSequence !== sequence) {
      tell(`the inbox of ${service}/${key} holds ${id}, which is ${row?.status ?? 'nobody'}`);
    }
  }
}

function checkOutbox(way: {
  readonly sender: PartitionId;
  readonly state: PartitionState;
  readonly destination: PartitionId;
  readonly receiver: PartitionState;
  readonly tell: Tell;
}): void {
  const { sender, state, destination, receiver, tell } = way;
  const cursor = state.outboxCursor(destination);
  const applied = receiver.inbound(sender) ?? -1;
  if (cursor === undefined) {
    if (applied >= 0) tell(`${String(destination)} applied messages that were never sent`);
    return;
  }
  for (let sequence = cursor.first; sequence < cursor.next; sequence += 1) {
    if (state.outboxMessage(destination, sequence) === undefined) {
      tell(`message ${String(sequence)} to ${String(destination)} is missing`);
    }
  }
  if (applied >= cursor.next) tell(`${String(destination)} applied messages that were never sent`);
  if (applied < cursor.first - 1) tell(`messages to ${String(destination)} were dropped unapplied`);
}

function partitions(count: number): readonly PartitionId[] {
  return Array.from({ length: count }, (_, id) => toPartitionId(id));
}
