/** Rules that are broken on purpose, to see that somebody finds it. */

import { toPartitionId } from '@engine/domain';
import type { LeaderLog, SharedLog } from '@engine/log';
import type { LogStream } from '@engine/nats/contract';
import { PARTITION_PREFIX_BYTES, TABLES, type KvStore, type RangeReader } from '@engine/storage';
import { chainLinkRow, encodeRow, positionRow, type MessageBatch } from '@engine/wire';
import type { PartitionSeats } from '@engine/worker';

import type { LogTruth } from '../cluster/log-truth.js';

import type { RowsView } from '../simulator/rows-view.js';

/** A leader goes by a refusal alone: it takes it for the proof that somebody else wrote. */
export function refusalsBelieved(stream: LogStream): LogStream {
  let refusedAt = 0;
  return {
    get payloadBytesMax() {
      return stream.payloadBytesMax;
    },
    publish: ({ payload, expectedLast, onAnswer }) =>
      stream.publish({
        payload,
        expectedLast,
        onAnswer: (answer) => {
          if (answer.kind === 'wrong-last') refusedAt = expectedLast + 1;
          onAnswer(answer);
        },
      }),
    get: async (sequence) => {
      const found = await stream.get(sequence);
      if (found !== undefined || sequence !== refusedAt) return found;
      refusedAt = 0;
      return { sequence, payload: Uint8Array.of(0) };
    },
    state: () => stream.state(),
    messages: (from, signal) => stream.messages(from, signal),
    purgeBelow: (sequence) => stream.purgeBelow(sequence),
    onReconnect: (listener) => stream.onReconnect(listener),
  };
}

/** Messages get the numbers that their receiver waits for. */
export function numbersForgotten(batch: MessageBatch, view: RowsView): MessageBatch {
  const applied = view.state(batch.destination).inbound(batch.sender) ?? -1;
  return { ...batch, first: applied + 1 };
}

export type Store = KvStore & RangeReader;

/** A store that shows a link for every record, whether its batch was lost or not. */
export function gapsHidden(store: Store, truthNow: () => LogTruth | undefined): Store {
  return {
    get: (key) => store.get(key),
    batch: () => store.batch(),
    pages: (range) => store.pages(range),
    close: () => store.close(),
    scan: async (range) => {
      const page = await store.scan(range);
      const truth = truthNow();
      if (truth === undefined || range.gte[PARTITION_PREFIX_BYTES] !== TABLES.chain) return page;
      const prefix = range.gte.subarray(0, PARTITION_PREFIX_BYTES);
      const bytes = store.get(Uint8Array.of(...prefix, TABLES.position));
      if (bytes === undefined) return page;
      const { oldest, sequence } = positionRow.read(bytes);
      const partition = toPartitionId(((prefix[1] ?? 0) << 8) | (prefix[2] ?? 0));
      return Array.from({ length: Number(sequence - oldest) + 1 }, (_, index) => {
        const at = oldest + BigInt(index);
        const key = new Uint8Array(PARTITION_PREFIX_BYTES + 9);
        key.set(prefix);
        key[PARTITION_PREFIX_BYTES] = TABLES.chain;
        new DataView(key.buffer).setBigUint64(PARTITION_PREFIX_BYTES + 1, at);
        const chain = truth.at(partition, at)?.position.chain ?? 0n;
        return { key, value: encodeRow(chainLinkRow, { chain, writtenBytes: 0 }) };
      });
    },
  };
}

/** A leader goes on after another one wrote to its log. */
export function refusalsIgnored(log: SharedLog): SharedLog {
  return withLeader(log, (leader) => ({
    get position() {
      return leader.position;
    },
    announcedAt: leader.announcedAt,
    commit: (record) => leader.commit(record).catch(() => undefined),
    resign: () => undefined,
  }));
}

/** A leader says that a record is durable when it has only been handed over. */
export function releasingEarly(log: SharedLog): SharedLog {
  return withLeader(log, (leader) => {
    let last = Promise.resolve();
    return {
      get position() {
        return leader.position;
      },
      announcedAt: leader.announcedAt,
      commit: (record) => {
        last = last.then(() => leader.commit(record));
        last.catch(() => undefined);
        return Promise.resolve();
      },
      resign: () => {
        leader.resign();
      },
    };
  });
}

function withLeader(log: SharedLog, change: (leader: LeaderLog) => LeaderLog): SharedLog {
  return {
    end: () => log.end(),
    follow: (request) => log.follow(request),
    trim: (sequence) => log.trim(sequence),
    takeOver: async (candidate) => {
      const taken = await log.takeOver(candidate);
      return taken.kind === 'leading' ? { kind: 'leading', log: change(taken.log) } : taken;
    },
  };
}

/** A leader answers reads by what it believes: without an append of its own. */
export function readsWithoutAppend(seats: PartitionSeats): PartitionSeats {
  return { ...seatsOf(seats), lead: (id, home) => seats.lead(id, { ...home, isShared: false }) };
}

/** A worker goes on with its attempts whatever becomes of its lease and of its leadership. */
export function attemptsKept(seats: PartitionSeats): PartitionSeats {
  return {
    ...seatsOf(seats),
    lead: (id, home) => seats.lead(id, { ...home, mayBeginAttempts: () => true }),
    holdAttempts: () => undefined,
  };
}

/** A worker goes on with its partitions, too. */
export function seatsKept(seats: PartitionSeats): PartitionSeats {
  return { ...attemptsKept(seats), letGo: () => undefined };
}

function seatsOf(seats: PartitionSeats): PartitionSeats {
  return {
    lead: (id, home) => seats.lead(id, home),
    letGo: (id) => {
      seats.letGo(id);
    },
    holdAttempts: (id) => {
      seats.holdAttempts(id);
    },
    resumeAttempts: (id) => seats.resumeAttempts(id),
  };
}
