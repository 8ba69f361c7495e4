import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import {
  invocationIdFromBytes,
  toPartitionId,
  type Invocation,
  type InvocationId,
  type JournalEntry,
  type TimerKey,
} from '@engine/domain';
import { arbitraryInvocation } from '@engine/wire/contract';
import { visitMutations, type EncodedMutations } from '@engine/wire';

import { MemoryKvStore } from './memory-kv-store.js';
import type { Mutation } from './mutation.js';
import { PartitionScan } from './partition-scan.js';
import { PartitionState } from './partition-state.js';
import { partitionPrefix } from './prefixes.js';

const place = { partition: toPartitionId(2), generation: 0 };
const idOf = (n: number): InvocationId => invocationIdFromBytes(new Uint8Array(24).fill(n));
const [sampleRow] = fc.sample(arbitraryInvocation, { numRuns: 1, seed: 5 });
const invocation = sampleRow as Invocation;
const entry = (bytes: number): JournalEntry => ({
  kind: 'input',
  headers: [],
  payload: new Uint8Array(bytes).fill(bytes % 253),
  appendedAt: 1,
});

let store: MemoryKvStore;
let state: PartitionState;

beforeEach(() => {
  store = new MemoryKvStore();
  state = new PartitionState({ place }, store);
});

async function write(mutations: EncodedMutations): Promise<void> {
  const prefix = partitionPrefix(place);
  const batch = store.batch();
  visitMutations(mutations, (key, value) => {
    const full = Uint8Array.of(...prefix, ...key);
    if (value === undefined) batch.del(full);
    else batch.put(full, value);
  });
  await batch.write({ sync: true });
}

async function commit(...mutations: Mutation[]): Promise<EncodedMutations> {
  state.apply(mutations);
  const sealed = state.seal();
  await write(sealed);
  state.committed();
  return sealed;
}

const reopened = () => new PartitionState({ place }, store);

describe('PartitionState', () => {
  it('shows a decided row at once, as the same object, in every stage', async () => {
    const id = idOf(1);
    expect(state.invocation(id)).toBeUndefined();
    state.apply([{ table: 'invocation', id, row: invocation }]);
    expect(state.invocation(id)).toBe(invocation);
    const sealed = state.seal();
    expect(state.invocation(id)).toBe(invocation);
    await write(sealed);
    state.committed();
    expect(state.invocation(id)).toBe(invocation);
    expect(reopened().invocation(id)).toEqual(invocation);
  });

  it('a row decided while the one before is in flight goes into the next record', async () => {
    const id = idOf(1);
    state.apply([{ table: 'inbound', sender: toPartitionId(4), row: 1 }]);
    const first = state.seal();
    state.apply([
      { table: 'inbound', sender: toPartitionId(4), row: 2 },
      { table: 'invocation', id, row: invocation },
    ]);
    expect(() => state.seal()).toThrow('in flight');
    await write(first);
    state.committed();
    expect(state.inbound(toPartitionId(4))).toBe(2);
    expect(reopened().inbound(toPartitionId(4))).toBe(1);
    await write(state.seal());
    state.committed();
    expect(reopened().inbound(toPartitionId(4))).toBe(2);
    expect(reopened().invocation(id)).toEqual(invocation);
  });

  it('writes each key once, with its last row', async () => {
    const id = idOf(1);
    const timer: TimerKey = { dueAt: 5, kind: 'sleep', invocationId: id, index: 1 };
    const sealed = await commit(
      { table: 'invocation', id, row: invocation },
      { table: 'timer', key: timer, row: { incarnation: 1 } },
      { table: 'invocation', id, row: { ...invocation, attempt: 77 } },
      { table: 'timer', key: timer, row: undefined },
    );
    expect(sealed.count).toBe(2);
    expect(reopened().invocation(id)?.attempt).toBe(77);
    expect(await new PartitionScan(place, store).timers(undefined, 10)).toEqual([]);
  });

  it('an empty record can be sealed, and the counters begin anew', async () => {
    expect((await commit()).count).toBe(0);
    state.apply([{ table: 'inbound', sender: toPartitionId(1), row: 1 }]);
    expect(state.openCount).toBe(1);
    expect(state.openSizeBytes).toBeGreaterThan(0);
    state.seal();
    expect(state.openCount).toBe(0);
    expect(state.openSizeBytes).toBe(0);
    expect(state.isSealed).toBe(true);
  });

  it('a record may carry its time, which a reopened state knows', async () => {
    expect(state.recordTime).toBe(0);
    const sealed = state.seal(1_700_000_000_123);
    expect(sealed.count).toBe(1);
    await write(sealed);
    state.committed();
    expect((await commit()).count).toBe(0);
    expect(reopened().recordTime).toBe(1_700_000_000_123);
  });

  it('partitions and generations in one store do not see each other', async () => {
    await commit({ table: 'inbound', sender: toPartitionId(1), row: 1 });
    const others = [
      { partition: toPartitionId(3), generation: 0 },
      { partition: toPartitionId(2), generation: 1 },
    ];
    for (const other of others) {
      const view = new PartitionState({ place: other }, store);
      expect(view.inbound(toPartitionId(1))).toBeUndefined();
    }
  });

  it('rows that are not durable survive any pressure on the cache', () => {
    state = new PartitionState({ place, cacheLimits: { rowsMax: 4, bytesMax: 100 } }, store);
    const id = idOf(1);
    state.apply([{ table: 'invocation', id, row: invocation }]);
    state.seal();
    state.apply([{ table: 'journal', id, index: 0, row: entry(90) }]);
    for (let i = 2; i < 100; i++) state.invocation(idOf(i));
    for (let i = 2; i < 100; i++) state.journalEntry(id, i);
    expect(state.invocation(id)).toBe(invocation);
    expect(state.journalEntry(id, 0)).toEqual(entry(90));
  });

  it('forgets durable rows beyond the limit and reads them again', async () => {
    state = new PartitionState({ place, cacheLimits: { rowsMax: 4, bytesMax: 100 } }, store);
    await commit({ table: 'invocation', id: idOf(1), row: invocation });
    for (let i = 2; i < 20; i++) state.invocation(idOf(i));
    const read = state.invocation(idOf(1));
    expect(read).not.toBe(invocation);
    expect(read).toEqual(invocation);
  });
});

describe('whatever is decided', () => {
  const key = fc.constantFrom('a', 'b', 'c');
  const put = (service: string, size: number): Mutation => ({
    table: 'state',
    service,
    key: 'k',
    stateKey: 'x',
    row: size < 0 ? undefined : new Uint8Array(size).fill(size % 7),
  });
  const step = fc.oneof(
    fc.tuple(key, fc.constantFrom(-1, 0, 5, 70_000, 140_000)).map(([k, size]) => put(k, size)),
    fc.constantFrom('seal' as const, 'commit' as const, 'crash' as const),
  );

  it('reads are the newest decided row, and a restart finds the last committed record', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        store = new MemoryKvStore();
        state = new PartitionState({ place, cacheLimits: { rowsMax: 2, bytesMax: 10 } }, store);
        let decided = new Map<string, number | undefined>();
        let sealed = new Map(decided);
        let committed = new Map(decided);
        let inFlight: EncodedMutations | undefined;
        for (const one of steps) {
          if (one === 'seal' && inFlight === undefined) {
            inFlight = state.seal();
            sealed = new Map(decided);
          } else if (one === 'commit' && inFlight !== undefined) {
            await write(inFlight);
            await write(inFlight); // Twice is once.
            state.committed();
            inFlight = undefined;
            committed = sealed;
          } else if (one === 'crash') {
            state = reopened();
            inFlight = undefined;
            decided = new Map(committed);
          } else if (typeof one === 'object' && one.table === 'state') {
            state.apply([one]);
            decided.set(one.service, one.row?.length);
          }
          for (const k of ['a', 'b', 'c']) {
            expect(state.state(k, 'k', 'x')?.length).toBe(decided.get(k));
            expect(reopened().state(k, 'k', 'x')?.length).toBe(committed.get(k));
          }
        }
      }),
    );
  });
});

describe('large rows', () => {
  const id = idOf(1);
  const SIZES = [0, 60_000, 65_500, 65_536, 65_541, 131_072, 200_000];

  it.each(SIZES)('a payload of %i bytes comes back whole', async (size) => {
    await commit({ table: 'journal', id, index: 0, row: entry(size) });
    expect(reopened().journalEntry(id, 0)).toEqual(entry(size));
    const [scanned] = await new PartitionScan(place, store).journal(id, 0, 10);
    expect(scanned).toEqual({ index: 0, entry: entry(size) });
  });

  it.each(SIZES)('a delete by a cold state leaves nothing of %i bytes', async (size) => {
    await commit({ table: 'journal', id, index: 0, row: entry(size) });
    state = reopened();
    await commit({ table: 'journal', id, index: 0, row: undefined });
    expect(store.size).toBe(0);
  });

  it('replacing a value leaves no piece of the one before, warm or cold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(-1, ...SIZES), fc.boolean()), { maxLength: 6 }),
        async (steps) => {
          store = new MemoryKvStore();
          state = reopened();
          let last: Uint8Array | undefined;
          for (const [size, isCold] of steps) {
            if (isCold) state = reopened();
            last = size < 0 ? undefined : new Uint8Array(size).fill(size % 7);
            await commit({ table: 'state', service: 's', key: 'k', stateKey: 'a', row: last });
            const read = reopened().state('s', 'k', 'a');
            expect(read?.length).toBe(last?.length);
          }
          await commit({ table: 'state', service: 's', key: 'k', stateKey: 'a', row: undefined });
          expect(store.size).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each([0, 65_500, 150_000])(
    'a new state of %i bytes waits in an inbox, and leaves nothing',
    async (size) => {
      const values = [size, 10, size].map((length, n) => ({
        key: `k${String(n)}`,
        value: new Uint8Array(length).fill(n + 1),
      }));
      const replacement = { expectedVersion: undefined, entries: values };
      const waiting: Mutation = {
        table: 'inbox',
        service: 's',
        key: 'k',
        sequence: 3,
        row: { kind: 'state-replacement', replacement },
      };
      await commit(waiting);
      state = reopened();
      expect(state.inboxEntry('s', 'k', 3)).toEqual(waiting.row);
      const [scanned] = await new PartitionScan(place, store).inbox(undefined, undefined, 10);
      expect(scanned).toEqual({ key: { service: 's', key: 'k', sequence: 3 }, row: waiting.row });
      await commit({ ...waiting, row: undefined });
      expect(store.size).toBe(0);
    },
  );

  it('a row that is replaced and deleted while in flight leaves nothing', async () => {
    const put = (size: number): Mutation => ({
      table: 'state',
      service: 's',
      key: 'k',
      stateKey: 'a',
      row: new Uint8Array(size),
    });
    state.apply([put(300_000)]);
    const first = state.seal();
    state.apply([put(100_000), { ...put(0), row: undefined } as Mutation]);
    await write(first);
    state.committed();
    await write(state.seal());
    state.committed();
    expect(store.size).toBe(0);
  });
});

describe('PartitionScan', () => {
  it('pages through active invocations and all invocations', async () => {
    const ids = Array.from({ length: 7 }, (_, n) => idOf(n));
    await commit(
      ...ids.map((id): Mutation => ({ table: 'active', id, row: true })),
      ...ids.map((id): Mutation => ({ table: 'invocation', id, row: invocation })),
    );
    const scan = new PartitionScan(place, store);
    const found: InvocationId[] = [];
    for (;;) {
      const page = await scan.active(found.at(-1), 3);
      found.push(...page);
      if (page.length < 3) break;
    }
    expect(found).toEqual(ids);
    const rows = await scan.invocations(ids[4], 10);
    expect(rows.map(({ id }) => id)).toEqual([ids[5], ids[6]]);
    expect(rows[0]?.invocation).toEqual(invocation);
  });

  it('pages through timers in the order in which they are due', async () => {
    const keys: TimerKey[] = [3, 1, 2].map((dueAt) => ({
      dueAt,
      kind: 'retry',
      invocationId: idOf(dueAt),
      index: 0,
    }));
    await commit(
      ...keys.map((key): Mutation => ({ table: 'timer', key, row: { incarnation: key.dueAt } })),
    );
    const scan = new PartitionScan(place, store);
    const first = await scan.timers(undefined, 2);
    expect(first.map(({ key }) => key.dueAt)).toEqual([1, 2]);
    const rest = await scan.timers(first[1]?.key, 2);
    expect(rest).toEqual([{ key: keys[0], row: { incarnation: 3 } }]);
  });

  it('reads journal and outbox of one owner only', async () => {
    const kill = { kind: 'kill', invocationId: idOf(1) } as const;
    await commit(
      ...[0, 1, 2].map((index): Mutation => ({
        table: 'journal',
        id: idOf(1),
        index,
        row: entry(index),
      })),
      { table: 'journal', id: idOf(2), index: 0, row: entry(9) },
      ...[4, 5].map((sequence): Mutation => ({
        table: 'outbox',
        destination: toPartitionId(1),
        sequence,
        row: kill,
      })),
      { table: 'outbox', destination: toPartitionId(2), sequence: 1, row: kill },
    );
    const scan = new PartitionScan(place, store);
    expect((await scan.journal(idOf(1), 1, 10)).map(({ index }) => index)).toEqual([1, 2]);
    expect(await scan.outbox(toPartitionId(1), 5, 10)).toEqual([{ sequence: 5, message: kill }]);
  });

  it('reads the state of one owner, or behind a key', async () => {
    const values = ['s/k/b', 's/k/a', 's/kk/a', 'ss/k/a'].map((path, index): Mutation => {
      const [service = '', key = '', stateKey = ''] = path.split('/');
      return { table: 'state', service, key, stateKey, row: Uint8Array.of(index) };
    });
    await commit(...values);
    const scan = new PartitionScan(place, store);
    const size = { rowsMax: 3, bytesMax: 1_000 };
    const read = async (...args: Parameters<PartitionScan['state']>) => {
      const { rows, hasMore } = await scan.state(...args);
      return [...rows.map(({ key: k }) => `${k.service}/${k.key}/${k.stateKey}`), hasMore];
    };
    expect(await read({ service: 's', key: 'k' }, undefined, size)).toEqual([
      ...['s/k/a', 's/k/b', false],
    ]);
    expect(await read({ service: 's' }, undefined, size)).toEqual([
      ...['s/k/a', 's/k/b', 's/kk/a', true],
    ]);
    const after = { service: 's', key: 'kk', stateKey: 'a' };
    expect(await read({}, after, size)).toEqual(['ss/k/a', false]);
    expect(await read({ service: 's' }, after, size)).toEqual([false]);
  });

  it('ends a page of journal entries early when they are large', async () => {
    const large = (owner: number, index: number): Mutation => {
      return { table: 'journal', id: idOf(owner), index, row: entry(200_000) };
    };
    await commit(large(1, 0), large(1, 1), large(2, 0));
    const scan = new PartitionScan(place, store);
    const size = { rowsMax: 10, bytesMax: 600_000 };
    const first = await scan.journals(undefined, undefined, size);
    expect(first.rows.map(({ key }) => key)).toEqual([
      { id: idOf(1), index: 0 },
      { id: idOf(1), index: 1 },
    ]);
    expect(first.hasMore).toBe(true);
    const rest = await scan.journals(undefined, first.rows[1]?.key, size);
    expect(rest).toEqual({
      rows: [{ key: { id: idOf(2), index: 0 }, row: entry(200_000) }],
      hasMore: false,
    });
    const ofOne = await scan.journals(idOf(1), { id: idOf(1), index: 0 }, size);
    expect(ofOne.rows.map(({ key }) => key.index)).toEqual([1]);
  });
});
