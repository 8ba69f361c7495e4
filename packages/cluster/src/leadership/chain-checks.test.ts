import fc from 'fast-check';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadHashes, toPartitionId, type NodeId } from '@engine/domain';
import { LOG_START, RecordWriter, type Checksum, type LogRecord } from '@engine/log';

import { judgeOrigin, judgeRecord, judgeStore, lostTail, settleAppend } from './chain-checks.js';

let checksum: Checksum;
beforeAll(async () => {
  ({ xxh3: checksum } = await loadHashes());
});

/** Records of one history, in epochs of three records each. */
function history(count: number, seed: number): LogRecord[] {
  const records: LogRecord[] = [];
  let writer = new RecordWriter(LOG_START, checksum);
  for (let i = 0; i < count; i += 1) {
    if (i % 3 === 0) writer = new RecordWriter({ ...writer.last, epoch: BigInt(i + 1) }, checksum);
    const bytes = Uint8Array.of(seed, i);
    records.push(writer.next({ bytes, count: 0 } as never));
  }
  return records;
}

/** The log of these records, for a store at `at`. */
function extent(
  records: readonly LogRecord[],
  at: bigint,
  { first = 1n, incarnation = 'i' }: { first?: bigint; incarnation?: string } = {},
) {
  const last = BigInt(records.length);
  const wanted = at === last ? at : at + 1n;
  const witness = wanted < first ? undefined : records[Number(wanted) - 1];
  return { incarnation, first, last, witness };
}

const counts = fc.integer({ min: 1, max: 12 });

describe('a store and its log', () => {
  it('CHN-1 continues wherever the store stands on the history of the log', () => {
    fc.assert(
      fc.property(counts, fc.nat(12), (count, place) => {
        const records = history(count, 1);
        const at = Math.min(place, count);
        const position = records[at - 1] ?? LOG_START;
        const store = { incarnation: 'i', position };
        expect(judgeStore(store, extent(records, BigInt(at)), checksum)).toBe('continues');
      }),
    );
  });

  it('CHN-1 is on another branch wherever it stands on another history', () => {
    fc.assert(
      fc.property(counts, counts, (count, place) => {
        const at = Math.min(place, count);
        const position = history(count, 2)[at - 1]!;
        const log = extent(history(count, 1), BigInt(at));
        expect(judgeStore({ incarnation: 'i', position }, log, checksum)).toBe('other-branch');
      }),
    );
  });

  it('CHN-1 is ahead, of another incarnation, trimmed, or new', () => {
    const records = history(5, 1);
    const at = (sequence: number) => ({ incarnation: 'i', position: records[sequence - 1]! });
    expect(judgeStore(at(5), extent(records.slice(0, 4), 5n), checksum)).toBe('ahead');
    expect(judgeStore(at(2), extent(records, 2n, { first: 4n }), checksum)).toBe('trimmed');
    expect(judgeStore(at(3), extent(records, 3n, { first: 4n }), checksum)).toBe('continues');
    expect(judgeStore(at(2), extent(records, 2n, { incarnation: 'j' }), checksum)).toBe(
      'other-incarnation',
    );
    expect(judgeStore(undefined, extent(records, 0n), checksum)).toBe('continues');
    expect(judgeStore(undefined, extent(records, 0n, { first: 3n }), checksum)).toBe('trimmed');
    expect(judgeStore(undefined, extent([], 0n), checksum)).toBe('continues');
    const beforeAnything = { incarnation: 'i', position: LOG_START };
    expect(judgeStore(beforeAnything, extent(records, 0n), checksum)).toBe('continues');
  });

  it('CHN-2 every record continues the one before; a gap, a repeat, an older epoch or a changed one does not', () => {
    const records = history(6, 1);
    const [, second, third, fourth] = records;
    expect(judgeRecord(second!, third!, checksum)).toBe('continues');
    expect(judgeRecord(third!, fourth!, checksum)).toBe('continues');
    expect(judgeRecord(second!, fourth!, checksum)).toBe('other-branch');
    expect(judgeRecord(third!, third!, checksum)).toBe('other-branch');
    expect(judgeRecord({ ...second!, epoch: 9n }, third!, checksum)).toBe('other-branch');
    const changed = { ...third!, mutations: { ...third!.mutations, bytes: Uint8Array.of(9) } };
    expect(judgeRecord(second!, changed, checksum)).toBe('other-branch');
  });

  it('CHN-3 a log says whose it is', () => {
    const ours = { clusterId: 'c', partition: toPartitionId(1), incarnation: 'i' };
    expect(judgeOrigin(ours, ours)).toBe('ours');
    expect(judgeOrigin({ ...ours, incarnation: undefined }, ours)).toBe('ours');
    expect(judgeOrigin(ours, { ...ours, clusterId: 'd' })).toBe('other-cluster');
    expect(judgeOrigin(ours, { ...ours, partition: toPartitionId(2) })).toBe('other-partition');
    expect(judgeOrigin(ours, { ...ours, incarnation: 'j' })).toBe('other-incarnation');
  });

  it('CHN-4 a replica that has more than the log, or other records, shows a lost tail', () => {
    const records = history(6, 1);
    const other = history(6, 2);
    const end = records[4]!;
    const chainAt = (sequence: bigint) =>
      sequence < 3n ? undefined : records[Number(sequence) - 1]?.chain;
    const replica = (record: LogRecord) => ({ ...record, node: 'b' as NodeId });
    const lost = (record: LogRecord) => lostTail({ end, chainAt }, [replica(record)]).length;
    expect([records[5]!, other[4]!, other[3]!].map(lost)).toEqual([1, 1, 1]);
    expect([end, records[3]!, records[1]!, other[1]!].map(lost)).toEqual([0, 0, 0, 0]);
  });

  it('CHN-5 an append is settled by the record at its place and by nothing else', () => {
    const [first] = history(1, 1);
    const [foreign] = history(1, 2);
    expect(settleAppend(first!, undefined)).toBe('resend');
    expect(settleAppend(first!, first!)).toBe('landed');
    expect(settleAppend(first!, foreign!)).toBe('overtaken');
    expect(settleAppend(first!, { ...first!, epoch: 9n })).toBe('overtaken');
    expect(() => settleAppend(first!, { ...first!, sequence: 2n })).toThrow('at its place');
  });
});
