/** What every PartitionLog keeps. A harness opens the log of one partition and what a restart finds. */

import { describe, expect, it } from '@jest/globals';
import { MutationWriter, visitMutations, type EncodedMutations } from '@engine/wire';

import { chainAfter, RecordWriter, type Checksum, type PartitionLog } from '../src/index.js';

export interface LogHarness {
  readonly checksum: Checksum;
  /** Records that the log itself writes at the start of an epoch. */
  readonly announcements: bigint;
  /** The first leader's log. */
  open(): Promise<PartitionLog>;
  /** The log as the next leader opens it, after the process of the last one was killed. */
  reopen(): Promise<PartitionLog>;
  /** What the store holds under a key of the partition; undefined when nothing. Absent: the twin has no store. */
  readonly read?: (key: Uint8Array) => Uint8Array | undefined;
  close(): Promise<void>;
}

function mutations(...pairs: readonly (readonly [number, number | undefined])[]): EncodedMutations {
  const writer = new MutationWriter();
  for (const [key, value] of pairs) {
    if (value === undefined) writer.del(Uint8Array.of(200, key));
    else writer.put(Uint8Array.of(200, key), Uint8Array.of(value));
  }
  return writer.finish();
}

export function partitionLogContract(name: string, makeHarness: () => Promise<LogHarness>): void {
  const withHarness = async (body: (harness: LogHarness) => Promise<void>): Promise<void> => {
    const harness = await makeHarness();
    try {
      await body(harness);
    } finally {
      await harness.close();
    }
  };

  describe(`${name} as PartitionLog`, () => {
    it('begins behind what it announces, in an epoch above 0', () =>
      withHarness(async (harness) => {
        const log = await harness.open();
        expect(log.position.sequence).toBe(harness.announcements);
        expect(log.position.epoch).toBeGreaterThan(0n);
      }));

    it('a committed record is applied and moves the position', () =>
      withHarness(async (harness) => {
        const log = await harness.open();
        const writer = new RecordWriter(log.position, harness.checksum);
        const first = writer.next(mutations([1, 10], [2, 20]));
        await log.commit(first);
        await log.commit(writer.next(mutations([1, undefined], [3, 30])));
        const sequence = harness.announcements + 2n;
        expect(log.position).toMatchObject({ sequence, chain: writer.last.chain });
        if (harness.read === undefined) return;
        expect(harness.read(Uint8Array.of(200, 1))).toBeUndefined();
        expect(harness.read(Uint8Array.of(200, 2))).toEqual(Uint8Array.of(20));
        expect(harness.read(Uint8Array.of(200, 3))).toEqual(Uint8Array.of(30));
      }));

    it('an empty record takes a place like any other', () =>
      withHarness(async (harness) => {
        const log = await harness.open();
        const writer = new RecordWriter(log.position, harness.checksum);
        await log.commit(writer.next(mutations()));
        expect(log.position.sequence).toBe(harness.announcements + 1n);
      }));

    it('refuses a record that leaves a gap or has another epoch', () =>
      withHarness(async (harness) => {
        const log = await harness.open();
        const writer = new RecordWriter(log.position, harness.checksum);
        writer.next(mutations());
        await expect(async () => log.commit(writer.next(mutations()))).rejects.toThrow('gap');
        const { epoch, sequence, chain } = log.position;
        const foreign = new RecordWriter({ epoch: epoch + 1n, sequence, chain }, harness.checksum);
        await expect(async () => log.commit(foreign.next(mutations()))).rejects.toThrow('epoch');
        expect(log.position.sequence).toBe(harness.announcements);
      }));

    it('the next leader finds every committed record under a new epoch', () =>
      withHarness(async (harness) => {
        const first = await harness.open();
        const writer = new RecordWriter(first.position, harness.checksum);
        for (let i = 0; i < 5; i++) await first.commit(writer.next(mutations([i, i])));
        const second = await harness.reopen();
        expect(second.position.epoch).toBe(first.position.epoch + 1n);
        expect(second.position.sequence).toBe(first.position.sequence + harness.announcements);
        if (harness.announcements === 0n) expect(second.position.chain).toBe(writer.last.chain);
        const next = new RecordWriter(second.position, harness.checksum);
        await second.commit(next.next(mutations([9, 9])));
        const third = await harness.reopen();
        expect(third.position.sequence).toBe(second.position.sequence + harness.announcements);
        if (harness.announcements === 0n) expect(third.position.chain).toBe(next.last.chain);
      }));

    it('the chain tells histories apart', () =>
      withHarness((harness) => {
        const one = { epoch: 1n, sequence: 1n, mutations: mutations([1, 1]) };
        const values = [
          chainAfter(0n, one, harness.checksum),
          chainAfter(1n, one, harness.checksum),
          chainAfter(0n, { ...one, epoch: 2n }, harness.checksum),
          chainAfter(0n, { ...one, sequence: 2n }, harness.checksum),
          chainAfter(0n, { ...one, mutations: mutations([1, 2]) }, harness.checksum),
          chainAfter(0n, { ...one, mutations: mutations([1, undefined]) }, harness.checksum),
        ];
        expect(new Set(values).size).toBe(values.length);
        const seen: unknown[] = [];
        visitMutations(one.mutations, (key, value) => seen.push([key, value]));
        expect(seen).toEqual([[Uint8Array.of(200, 1), Uint8Array.of(1)]]);
        return Promise.resolve();
      }));
  });
}
