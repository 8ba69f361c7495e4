import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import {
  compareTimerKeys,
  invocationIdFromBytes,
  TIMER_RANK,
  toPartitionId,
  type InvocationId,
  type TimerKey,
  type TimerKind,
} from '@engine/domain';
import { compareBytes, encodeUtf8, toHex } from '@engine/stdx';
import { arbitraryInvocationId, arbitraryNotificationId } from '@engine/wire/contract';

import { KeyReader } from '../keys/key-reader.js';
import { KeyWriter } from '../keys/key-writer.js';
import { partitionPrefix, prefixEnd, TABLES } from '../prefixes.js';
import { inboxTable } from './inbox.js';
import { journalTable } from './journal.js';
import { notificationTable } from './notification.js';
import { objectLockTable } from './object-lock.js';
import { outboxTable } from './outbox.js';
import { promiseTable } from './promise.js';
import { stateTable } from './state.js';
import type { Table } from './table.js';
import { timerTable } from './timer.js';

const writer = new KeyWriter({ partition: toPartitionId(3), generation: 1 });

function keyOf<Key>(table: Table<Key, never>, key: Key): Uint8Array {
  table.writeKey(key, writer.begin(table.number));
  return writer.full().slice();
}

type AnyTable<Key> = Table<Key, never>;

/** Keys come back, differ when they differ, and have texts that differ when they differ. */
function isCodec<Key>(table: unknown, keys: fc.Arbitrary<Key>): void {
  const codec = table as AnyTable<Key>;
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      expect(codec.readKey(new KeyReader(keyOf(codec, a), 6))).toEqual(a);
      const same = toHex(keyOf(codec, a)) === toHex(keyOf(codec, b));
      expect(codec.keyText(a) === codec.keyText(b)).toBe(same);
    }),
  );
}

function isOrdered<Key>(
  table: unknown,
  keys: fc.Arbitrary<Key>,
  compare: (a: Key, b: Key) => number,
): void {
  const codec = table as AnyTable<Key>;
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      const order = Math.sign(compareBytes(keyOf(codec, a), keyOf(codec, b)));
      expect(order).toBe(Math.sign(compare(a, b)));
    }),
  );
}

// Texts with zeros and near-collisions, of every plane.
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc
    .array(fc.constantFrom('\0', '\u0001', 'a', 'b', 'é', '\u{1f600}'), { maxLength: 3 })
    .map((c) => c.join('')),
);
const object = { service: text, key: text };
const sequence = fc.oneof(fc.nat(3), fc.maxSafeNat());
const ids = fc.sample(arbitraryInvocationId, { numRuns: 4, seed: 1 });
const id = fc.oneof(fc.constantFrom(...ids), arbitraryInvocationId);
const timerKey: fc.Arbitrary<TimerKey> = fc.record({
  dueAt: fc.oneof(fc.nat(3), fc.maxSafeNat(), fc.constant(1.5)),
  kind: fc.constantFrom(...(Object.keys(TIMER_RANK) as TimerKind[])),
  invocationId: id,
  index: fc.nat(2),
});
const textOrder = (a: string, b: string) => compareBytes(encodeUtf8(a), encodeUtf8(b));
const firstDifference = (...orders: number[]) => orders.find((order) => order !== 0) ?? 0;

describe('keys', () => {
  it('are codecs without collisions', () => {
    isCodec(journalTable, fc.record({ id, index: fc.nat(2 ** 32 - 1) }));
    isCodec(notificationTable, fc.record({ id, notification: arbitraryNotificationId }));
    isCodec(objectLockTable, fc.record(object));
    isCodec(inboxTable, fc.record({ ...object, sequence }));
    isCodec(stateTable, fc.record({ ...object, stateKey: text }));
    isCodec(promiseTable, fc.record({ ...object, name: text }));
    isCodec(outboxTable, fc.record({ destination: fc.nat(65_535).map(toPartitionId), sequence }));
    isCodec(timerTable, timerKey);
  });

  it('sort like what they stand for', () => {
    isOrdered(timerTable, timerKey, compareTimerKeys);
    isOrdered(
      journalTable,
      fc.record({ id: fc.constant(ids[0] as InvocationId), index: fc.nat(2 ** 32 - 1) }),
      (a, b) => a.index - b.index,
    );
    isOrdered(
      inboxTable,
      fc.record({ service: fc.constantFrom('s', 't'), key: text, sequence }),
      (a, b) =>
        firstDifference(
          textOrder(a.service, b.service),
          textOrder(a.key, b.key),
          a.sequence - b.sequence,
        ),
    );
    isOrdered(
      outboxTable,
      fc.record({ destination: fc.nat(300).map(toPartitionId), sequence }),
      (a, b) => firstDifference(a.destination - b.destination, a.sequence - b.sequence),
    );
  });

  it('of invocations begin with the uuid, so that new ones stand together', () => {
    const id = invocationIdFromBytes(Uint8Array.from({ length: 24 }, (_, i) => i));
    journalTable.writeKey({ id, index: 0x01020304 }, writer.begin(journalTable.number));
    const uuidThenPartitionKey = Array.from({ length: 24 }, (_, i) => (i + 8) % 24);
    expect([...writer.relative()]).toEqual([TABLES.journal, ...uuidThenPartitionKey, 1, 2, 3, 4]);
  });
});

describe('prefixes', () => {
  it('table numbers are unique', () => {
    expect(new Set(Object.values(TABLES)).size).toBe(Object.keys(TABLES).length);
  });

  it('the end of a prefix is above all its keys and below the next prefix', () => {
    const prefix = partitionPrefix({ partition: toPartitionId(0x01ff), generation: 0xffff });
    expect(prefix).toEqual(Uint8Array.of(1, 1, 0xff, 0xff, 0xff));
    expect(prefixEnd(prefix)).toEqual(Uint8Array.of(1, 2));
  });
});
