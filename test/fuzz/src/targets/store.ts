/**
 * A partition on a disk that lies: some rows have other bytes, keys or pieces than were written. Opening, scanning, reading and
 * writing over them gives rows or EngineError `storage`.
 */

import { RecordWriter } from '@engine/log';
import { loadHashes, toPartitionId, type InvocationId } from '@engine/domain';
import {
  MemoryKvStore,
  PARTITION_PREFIX_BYTES,
  PartitionScan,
  PartitionState,
  partitionPrefix,
  prefixEnd,
  type KvEntry,
  type KvStore,
  type Mutation,
  type PartitionPlace,
} from '@engine/storage';
import { EmbeddedLog } from '@engine/storage-leveldb';
import { compareBytes, concatBytes, encodeUtf8 } from '@engine/stdx';
import {
  arbitraryInboxEntry,
  arbitraryInvocation,
  arbitraryInvocationId,
  arbitraryJournalEntry,
  arbitraryMessage,
  arbitraryNotificationId,
  arbitraryPromise,
} from '@engine/wire/contract';
import type fc from 'fast-check';

import type { Chance } from '../chance.js';
import { samplesOf } from '../corpora.js';
import { mutateBytes } from '../mutate.js';
import { codedOnly, codeOf, openTarget, type Target } from '../target.js';
import { DamagedStore } from './damaged-store.js';

const PLACE: PartitionPlace = { partition: toPartitionId(1), generation: 0 };
const OTHER = toPartitionId(2);
/** Stands in three pieces. */
const LARGE_BYTES = 150_000;
const ROWS_OF_EACH = 4;
const MUTATIONS_PER_RECORD = 6;
const PAGE = { rowsMax: 100, bytesMax: 10_000_000 };
/** Bytes at the front of a value, where the structure is. */
const FRONT_BYTES = 12;
/** Behind the prefix of the partition and the table. */
const ROW_KEY_START = PARTITION_PREFIX_BYTES + 1;
const EQUALS = encodeUtf8('=');
const LINE_END = encodeUtf8('\n');

export const store: Target = {
  name: 'store',
  open: async () => {
    const mutations = mutationsOf();
    const entries = await written(mutations);
    return openTarget((chance) => {
      const damaged = [...entries];
      const spoilt = chance.list(chance.between(1, 3), () => {
        const at = chance.below(damaged.length);
        const entry = spoil(chance, damaged[at] as KvEntry);
        damaged[at] = entry;
        return entry;
      });
      const blind = chance.pick(mutations);
      return {
        bytes: concatBytes(spoilt.flatMap(({ key, value }) => [key, EQUALS, value, LINE_END])),
        run: () => {
          damaged.sort((one, other) => compareBytes(one.key, other.key));
          return use(new DamagedStore(damaged), { mutations, blind });
        },
      };
    });
  },
};

function spoil(chance: Chance, { key, value }: KvEntry): KvEntry {
  switch (chance.below(5)) {
    case 0: {
      // The partition and the table stay, or nobody would look there.
      const [front, rest] = [key.subarray(0, ROW_KEY_START), key.subarray(ROW_KEY_START)];
      return { key: concatBytes([front, mutateBytes(chance, rest)]), value };
    }
    case 1:
      return { key, value: chance.bytes(chance.length(40)) };
    case 2:
    case 3: {
      const front = mutateBytes(chance, value.subarray(0, FRONT_BYTES));
      return { key, value: concatBytes([front, value.subarray(FRONT_BYTES)]) };
    }
    default:
      return { key, value: mutateBytes(chance, value) };
  }
}

interface Rows {
  readonly mutations: readonly Mutation[];
  /** A row that is deleted without having been read. */
  readonly blind: Mutation;
}

async function use(kv: KvStore, { mutations, blind }: Rows): Promise<void> {
  const scan = new PartitionScan(PLACE, kv);
  await storageOnly(() => scan.active(undefined, 100));
  await storageOnly(() => scan.timers(undefined, 100));
  await storageOnly(() => scan.outbox(OTHER, 0, 100));
  await storageOnly(() => scan.invocations(undefined, 100));
  await storageOnly(() => scan.journals(undefined, undefined, PAGE));
  await storageOnly(() => scan.state({}, undefined, PAGE));
  await storageOnly(() => scan.promises(undefined, undefined, 100));
  await storageOnly(() => scan.locks(undefined, 100));
  await storageOnly(() => scan.inbox(undefined, undefined, 100));
  const state = new PartitionState({ place: PLACE }, kv);
  for (const mutation of mutations) codedOnly(['storage'], () => read(state, mutation));
  const fresh = new PartitionState({ place: PLACE }, kv);
  codedOnly(['storage'], () => {
    fresh.apply([{ ...blind, row: undefined } as Mutation]);
    fresh.seal();
  });
  await storageOnly(() =>
    EmbeddedLog.open({ places: [PLACE] }, { store: kv, onFatal: () => undefined }),
  );
}

async function storageOnly(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (codeOf(error) !== 'storage') throw error;
  }
}

/** Reads the row that the mutation wrote, where decisions read it. */
function read(state: PartitionState, mutation: Mutation): unknown {
  switch (mutation.table) {
    case 'invocation':
      return state.invocation(mutation.id);
    case 'journal':
      return state.journalEntry(mutation.id, mutation.index);
    case 'notification':
      return state.notification(mutation.id, mutation.notification);
    case 'object-lock':
      return state.objectLock(mutation.service, mutation.key);
    case 'inbox':
      return state.inboxEntry(mutation.service, mutation.key, mutation.sequence);
    case 'state':
      return state.state(mutation.service, mutation.key, mutation.stateKey);
    case 'state-directory':
      return state.stateDirectory(mutation.service, mutation.key);
    case 'promise':
      return state.promise(mutation.service, mutation.key, mutation.name);
    case 'promise-directory':
      return state.promiseDirectory(mutation.service, mutation.key);
    case 'outbox':
      return state.outboxMessage(mutation.destination, mutation.sequence);
    case 'outbox-cursor':
      return state.outboxCursor(mutation.destination);
    case 'inbound':
      return state.inbound(mutation.sender);
    case 'active':
    case 'timer':
      return undefined;
  }
}

/** A few rows of every table. */
function mutationsOf(): Mutation[] {
  const some = <T>(arbitrary: fc.Arbitrary<T>): T[] => samplesOf(arbitrary, ROWS_OF_EACH);
  const ids = some(arbitraryInvocationId);
  const idAt = (index: number): InvocationId => ids[index % ids.length] as InvocationId;
  const object = { service: 'Counter', key: 'k\u0000\u00e9' };
  const lock = { holder: idAt(0), inboxHead: 1, inboxTail: 3, replacements: 0 };
  return [
    ...some(arbitraryInvocation).map((row, i): Mutation => ({
      table: 'invocation',
      id: idAt(i),
      row,
    })),
    ...ids.map((id): Mutation => ({ table: 'active', id, row: true })),
    ...some(arbitraryJournalEntry).map((row, index): Mutation => ({
      table: 'journal',
      id: idAt(index),
      index,
      row,
    })),
    ...some(arbitraryNotificationId).map((notification, i): Mutation => ({
      table: 'notification',
      id: idAt(i),
      notification,
      row: { firstIndex: i, lastIndex: i + 1, succeeded: true },
    })),
    { table: 'object-lock', ...object, row: lock },
    { table: 'inbox', ...object, sequence: 1, row: { kind: 'invocation', invocationId: idAt(1) } },
    ...some(arbitraryInboxEntry).map((row, index): Mutation => ({
      table: 'inbox',
      ...object,
      sequence: 2 + index,
      row,
    })),
    { table: 'state', ...object, stateKey: 'small', row: Uint8Array.of(1, 2, 3) },
    { table: 'state', ...object, stateKey: 'large', row: new Uint8Array(LARGE_BYTES) },
    { table: 'state-directory', ...object, row: { entries: [{ key: 'small', sizeBytes: 3 }] } },
    ...some(arbitraryPromise).map((row, i): Mutation => ({
      table: 'promise',
      ...object,
      name: `p${String(i)}`,
      row,
    })),
    { table: 'promise-directory', ...object, row: { names: ['p0', 'p1'] } },
    ...ids.map((invocationId, index): Mutation => ({
      table: 'timer',
      key: { dueAt: 1_000 * index, kind: 'sleep', invocationId, index },
      row: { incarnation: 0 } as never,
    })),
    ...some(arbitraryMessage).map((row, sequence): Mutation => ({
      table: 'outbox',
      destination: OTHER,
      sequence,
      row,
    })),
    { table: 'outbox-cursor', destination: OTHER, row: { head: 0, tail: ROWS_OF_EACH } as never },
    { table: 'inbound', sender: OTHER, row: 7 },
  ];
}

/** What the disk holds after the mutations were committed, a few in each record. */
async function written(mutations: readonly Mutation[]): Promise<readonly KvEntry[]> {
  const kv = new MemoryKvStore();
  const { xxh3 } = await loadHashes();
  const onFatal = (error: Error): void => {
    throw error;
  };
  const embedded = await EmbeddedLog.open({ places: [PLACE] }, { store: kv, onFatal });
  const log = embedded.partition(PLACE.partition);
  const records = new RecordWriter(log.position, xxh3);
  const state = new PartitionState({ place: PLACE }, kv);
  for (let i = 0; i < mutations.length; i += MUTATIONS_PER_RECORD) {
    state.apply(mutations.slice(i, i + MUTATIONS_PER_RECORD));
    await log.commit(records.next(state.seal()));
    state.committed();
  }
  const prefix = partitionPrefix(PLACE);
  return kv.scan({ gte: prefix, lt: prefixEnd(prefix), limit: 10_000 });
}
