/** What every SharedLog keeps. A harness gives views of the log of one partition, each as another process would open it. */

import { describe, expect, it } from '@jest/globals';
import { MutationWriter, type EncodedMutations } from '@engine/wire';

import {
  LOG_START,
  RecordWriter,
  type Checksum,
  type FollowOutcome,
  type LeaderLog,
  type LogPosition,
  type LogRecord,
  type SharedLog,
  type TakeOver,
} from '../src/index.js';
import { partitionLogContract } from './partition-log-contract.js';

export interface SharedLogHarness {
  readonly checksum: Checksum;
  open(): Promise<SharedLog>;
  close(): Promise<void>;
}

const deposed = expect.objectContaining({ code: 'deposed' });
const never = new AbortController().signal;

function put(key: number, bytes = 1): EncodedMutations {
  const writer = new MutationWriter();
  const value = new Uint8Array(bytes).map((_, at) => (at * 31 + (at >> 8) + key) & 0xff);
  writer.put(Uint8Array.of(200, key), value);
  return writer.finish();
}

/** A store that only remembers what was applied. */
export class ReplicaStore {
  readonly records: LogRecord[] = [];
  #wake: () => void = () => undefined;

  get position(): LogPosition {
    const last = this.records.at(-1);
    if (last === undefined) return LOG_START;
    const { epoch, sequence, chain } = last;
    return { epoch, sequence, chain };
  }

  readonly apply = (record: LogRecord): Promise<void> => {
    this.records.push(record);
    this.#wake();
    return Promise.resolve();
  };

  async until(count: number): Promise<void> {
    while (this.records.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export function requireLeading(taken: TakeOver): LeaderLog {
  if (taken.kind !== 'leading') throw new Error(`not leading: ${taken.kind}`);
  return taken.log;
}

export function sharedLogContract(
  name: string,
  makeHarness: () => Promise<SharedLogHarness>,
): void {
  const withHarness = async (body: (harness: SharedLogHarness) => Promise<void>): Promise<void> => {
    const harness = await makeHarness();
    try {
      await body(harness);
    } finally {
      await harness.close();
    }
  };

  const lead = async (
    harness: SharedLogHarness,
    epoch: bigint,
    store = new ReplicaStore(),
  ): Promise<{ log: LeaderLog; writer: RecordWriter; store: ReplicaStore; shared: SharedLog }> => {
    const shared = await harness.open();
    const { position: from, apply } = store;
    const node = `node-${String(epoch)}`;
    const log = requireLeading(await shared.takeOver({ epoch, node, from, apply, signal: never }));
    return { log, writer: new RecordWriter(log.position, harness.checksum), store, shared };
  };

  const replay = async (
    harness: SharedLogHarness,
    store: ReplicaStore,
    from: LogPosition = store.position,
  ): Promise<FollowOutcome> => {
    const shared = await harness.open();
    return shared.follow({ from, apply: store.apply, stopAtEnd: true, signal: never });
  };

  const contents = ({ records }: ReplicaStore): unknown[] =>
    records.map(({ epoch, sequence, chain, mutations }) => ({
      epoch,
      sequence,
      chain,
      bytes: mutations.bytes,
    }));

  describe(`${name} as SharedLog`, () => {
    it('an empty log has no end and nothing to apply', () =>
      withHarness(async (harness) => {
        const store = new ReplicaStore();
        expect(await (await harness.open()).end()).toBeUndefined();
        expect(await replay(harness, store)).toMatchObject({ kind: 'at-end', position: LOG_START });
        expect(store.records).toEqual([]);
      }));

    it('the first leader announces its epoch in the first record', () =>
      withHarness(async (harness) => {
        const { log, store, shared } = await lead(harness, 3n);
        expect(log.position).toMatchObject({ epoch: 3n, sequence: 1n });
        expect(store.position).toEqual(log.position);
        expect(await shared.end()).toEqual({ position: log.position, epoch: 3n });
      }));

    it('a replica applies what the leader commits, byte for byte', () =>
      withHarness(async (harness) => {
        const { log, writer, store } = await lead(harness, 1n);
        for (let i = 0; i < 20; i++) await log.commit(writer.next(put(i, i * 10)));
        await log.commit(writer.next(new MutationWriter().finish()));
        const replica = new ReplicaStore();
        const outcome = await replay(harness, replica);
        expect(outcome).toMatchObject({ kind: 'at-end', position: log.position });
        expect(contents(replica)).toEqual(contents(store));
        const half = new ReplicaStore();
        await replay(harness, half, replica.records[9]);
        expect(contents(half)).toEqual(contents(replica).slice(10));
      }));

    it('records of any size come whole', () =>
      withHarness(async (harness) => {
        const { log, writer, store } = await lead(harness, 1n);
        for (const size of [3_500_000, 1, 1_048_576, 1_047_000, 2_200_000]) {
          await log.commit(writer.next(put(1, size)));
        }
        const replica = new ReplicaStore();
        await replay(harness, replica);
        const digest = ({ records }: ReplicaStore): unknown[] =>
          records.map(({ chain, mutations: { count, bytes } }) => [
            chain,
            count,
            bytes.length,
            harness.checksum(bytes),
          ]);
        expect(digest(replica)).toEqual(digest(store));
      }));

    it('a follower gets what is committed later, and ends with its signal', () =>
      withHarness(async (harness) => {
        const { log, writer } = await lead(harness, 1n);
        const controller = new AbortController();
        const replica = new ReplicaStore();
        const following = (await harness.open()).follow({
          from: LOG_START,
          apply: replica.apply,
          stopAtEnd: false,
          signal: controller.signal,
        });
        await replica.until(1);
        for (let i = 0; i < 5; i++) await log.commit(writer.next(put(i)));
        await replica.until(6);
        expect(replica.position).toEqual(log.position);
        const reason = new Error('enough');
        controller.abort(reason);
        await expect(following).rejects.toBe(reason);
      }));

    it('what apply throws ends the following', () =>
      withHarness(async (harness) => {
        await lead(harness, 1n);
        const failing = (await harness.open()).follow({
          from: LOG_START,
          apply: () => Promise.reject(new Error('disk gone')),
          stopAtEnd: false,
          signal: never,
        });
        await expect(failing).rejects.toThrow('disk gone');
      }));

    it('a new leader applies what is missing and goes on behind its announcement', () =>
      withHarness(async (harness) => {
        const first = await lead(harness, 1n);
        for (let i = 0; i < 3; i++) await first.log.commit(first.writer.next(put(i)));
        first.log.resign();
        const second = await lead(harness, 5n);
        expect(second.log.position).toMatchObject({ epoch: 5n, sequence: 5n });
        await second.log.commit(second.writer.next(put(9)));
        const replica = new ReplicaStore();
        await replay(harness, replica);
        expect(replica.records.map(({ epoch }) => epoch)).toEqual([1n, 1n, 1n, 1n, 5n, 5n]);
        expect(replica.position).toEqual(second.log.position);
      }));

    it('a deposed leader is told so, and nothing of it gets into the log', () =>
      withHarness(async (harness) => {
        const old = await lead(harness, 1n);
        await old.log.commit(old.writer.next(put(1)));
        const { log } = await lead(harness, 2n);
        await expect(old.log.commit(old.writer.next(put(2)))).rejects.toThrow(deposed);
        const replica = new ReplicaStore();
        await replay(harness, replica);
        expect(replica.position).toEqual(log.position);
        expect(old.store.records).toHaveLength(2);
      }));

    it('a candidate with an epoch that the log knows is superseded and changes nothing', () =>
      withHarness(async (harness) => {
        const { log, writer, shared } = await lead(harness, 4n);
        for (const epoch of [3n, 4n]) {
          const { position: from, apply } = new ReplicaStore();
          const taken = await shared.takeOver({ epoch, node: 'late', from, apply, signal: never });
          expect(taken).toEqual({ kind: 'superseded', epoch: 4n });
        }
        await log.commit(writer.next(put(1)));
      }));

    it('of candidates at the same time the one with the highest epoch leads in the end', () =>
      withHarness(async (harness) => {
        const epochs = [1n, 2n, 3n, 4n];
        const taken = await Promise.all(
          epochs.map(async (epoch) => {
            const shared = await harness.open();
            const { position: from, apply } = new ReplicaStore();
            return shared.takeOver({ epoch, node: 'x', from, apply, signal: never });
          }),
        );
        const last = requireLeading(taken.at(-1) as TakeOver);
        const writer = new RecordWriter(last.position, harness.checksum);
        await last.commit(writer.next(put(1)));
        for (const other of taken.slice(0, -1)) {
          if (other.kind !== 'leading') continue;
          const late = new RecordWriter(other.log.position, harness.checksum);
          await expect(other.log.commit(late.next(put(2)))).rejects.toThrow(deposed);
        }
        const replica = new ReplicaStore();
        await replay(harness, replica);
        expect(replica.position).toEqual(last.position);
      }));

    it('takes one record at a time', () =>
      withHarness(async (harness) => {
        const { log, writer } = await lead(harness, 1n);
        const first = log.commit(writer.next(put(1)));
        await expect(async () => log.commit(writer.next(put(2)))).rejects.toThrow('in flight');
        await first;
      }));

    it('trims up to a record, keeps the newest, and tells a store that comes too late', () =>
      withHarness(async (harness) => {
        const { log, writer, store, shared } = await lead(harness, 1n);
        for (let i = 0; i < 3; i++) await log.commit(writer.next(put(i, 1_500_000)));
        for (let i = 0; i < 5; i++) await log.commit(writer.next(put(i)));
        expect(await shared.trim(3n)).toBe(4n);
        expect(await shared.trim(2n)).toBe(4n);
        const late = new ReplicaStore();
        expect(await replay(harness, late)).toEqual({ kind: 'trimmed', oldest: 4n });
        expect(await replay(harness, late, store.records[1])).toMatchObject({ kind: 'trimmed' });
        expect(await replay(harness, late, store.records[2])).toMatchObject({ kind: 'at-end' });
        expect(late.records.map(({ sequence }) => sequence)).toEqual([4n, 5n, 6n, 7n, 8n, 9n]);
        expect(await shared.trim(100n)).toBe(9n);
        await log.commit(writer.next(put(1)));
        expect(await replay(harness, late)).toMatchObject({ kind: 'at-end' });
        expect(late.position).toEqual(log.position);
      }));

    it('a store that is ahead of the log, or on another branch, is told so and gets nothing', () =>
      withHarness(async (harness) => {
        const { log, writer, store } = await lead(harness, 1n);
        for (let i = 0; i < 3; i++) await log.commit(writer.next(put(i)));
        const replica = new ReplicaStore();
        const ahead = { ...log.position, sequence: 9n };
        expect(await replay(harness, replica, ahead)).toEqual({ kind: 'ahead', last: 4n });
        for (const record of store.records) {
          const branch = { ...record, chain: record.chain ^ 1n };
          expect(await replay(harness, replica, branch)).toMatchObject({ kind: 'diverged' });
        }
        const shared = await harness.open();
        const candidate = { epoch: 2n, node: 'x', apply: replica.apply, signal: never };
        const taken = await shared.takeOver({ ...candidate, from: ahead });
        expect(taken).toEqual({ kind: 'ahead', last: 4n });
        expect(replica.records).toEqual([]);
      }));
  });

  partitionLogContract(`${name} in the hands of its leader`, async () => {
    const harness = await makeHarness();
    let [store, epoch] = [new ReplicaStore(), 0n];
    const open = async (): Promise<LeaderLog> => {
      store = new ReplicaStore();
      return (await lead(harness, (epoch += 1n), store)).log;
    };
    return {
      checksum: harness.checksum,
      announcements: 1n,
      open,
      reopen: open,
      close: () => harness.close(),
    };
  });
}
