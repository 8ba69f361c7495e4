import { describe, expect, it } from '@jest/globals';
import { decodeUtf8 } from '@engine/stdx';
import type { JournalSnapshot, StateSnapshot } from '@engine/wire';

import { output, END, setState } from '../testing/sdk-frames.js';
import { schemaOf, service, TestWorld } from '../testing/test-worker.js';

const schema = schemaOf(service('Counter', 'virtual-object', ['add']));
const KEYS = Array.from({ length: 12 }, (_, index) => `k${String(index)}`);

/** Several partitions in which each key has one ended invocation, two state values and a journal of four entries. */
async function counted(): Promise<TestWorld> {
  const world = await TestWorld.start({ schema, settings: { partitionCount: 4 } });
  world.deployment.on('Counter/add', (stream) => {
    if (!stream.isRequestClosed && stream.sent.length === 0) {
      stream.send(setState('a', '1'), setState('b', '2'), output('done'), END);
    }
  });
  for (const key of KEYS) world.invoke(`Counter/${key}/add`, '1');
  await world.time.settle();
  return world;
}

async function all<Found>(found: AsyncIterable<Found>): Promise<Found[]> {
  const list: Found[] = [];
  for await (const each of found) list.push(each);
  return list;
}

/** Everything, in pages of 5. */
async function inPages<Found>(
  read: (after: Found | undefined) => AsyncIterable<Found>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (;;) {
    const page = await all(read(found.at(-1)));
    found.push(...page);
    if (page.length < 5) return found;
  }
}

const entryText = ({ index, entry }: JournalSnapshot): string => `${String(index)} ${entry.kind}`;
const stateText = ({ service: name, key, stateKey, value }: StateSnapshot): string =>
  `${name}/${key}/${stateKey}=${decodeUtf8(value)}`;

describe('introspection of journals', () => {
  it('finds the entries of one invocation, or of all in pages', async () => {
    const world = await counted();
    const entries = await inPages<JournalSnapshot>((after) =>
      world.worker.scanJournal({ limit: 5, after }),
    );
    expect(entries).toHaveLength(KEYS.length * 4);
    const ids = [...new Set(entries.map(({ id }) => id))];
    expect(ids).toHaveLength(KEYS.length);
    for (const id of ids) {
      const own = await all(world.worker.scanJournal({ id, limit: 100 }));
      expect(own.map(entryText)).toEqual(['0 input', '1 command', '2 command', '3 output']);
      expect(entries.filter((entry) => entry.id === id)).toEqual(own);
      const behind = await all(world.worker.scanJournal({ id, limit: 1, after: { id, index: 1 } }));
      expect(behind.map(entryText)).toEqual(['2 command']);
    }
  });

  it('shows no journal of an invocation that is no longer retained', async () => {
    const world = await counted();
    const [first] = await all(world.worker.scanJournal({ limit: 1 }));
    const row = await world.row(first?.id ?? world.invocation('Counter/k/add', '').id);
    await world.time.pass((row?.invocation.completionRetentionMs ?? 0) + 1);
    expect(await all(world.worker.scanJournal({ limit: 100 }))).toEqual([]);
  });

  it('shows nothing of a purged journal, although the output is still stored', async () => {
    const world = await counted();
    const [first] = await all(world.worker.scanJournal({ limit: 1 }));
    const id = first?.id ?? world.invocation('Counter/k/add', '').id;
    world.operate('purge-journal', id);
    await world.time.settle();
    expect(await all(world.worker.scanJournal({ id, limit: 100 }))).toEqual([]);
    const row = await world.row(id);
    expect(row?.invocation).toMatchObject({ status: 'completed', journalLength: 0 });
  });
});

describe('introspection of state', () => {
  it('finds the values of one object, of one service, or all in pages', async () => {
    const world = await counted();
    const values = await inPages<StateSnapshot>((after) =>
      world.worker.scanState({ limit: 5, after }),
    );
    expect(values.map(stateText).sort()).toEqual(
      KEYS.flatMap((key) => [`Counter/${key}/a=1`, `Counter/${key}/b=2`]).sort(),
    );
    expect(new Set(values.map(({ partitionKey }) => partitionKey)).size).toBe(KEYS.length);
    const ofService = world.worker.scanState({ service: 'Counter', limit: 100 });
    expect(await all(ofService)).toEqual(values);
    for (const key of KEYS) {
      const own = await all(world.worker.scanState({ service: 'Counter', key, limit: 100 }));
      expect(own.map(stateText)).toEqual([`Counter/${key}/a=1`, `Counter/${key}/b=2`]);
    }
    expect(await all(world.worker.scanState({ service: 'Count', limit: 100 }))).toEqual([]);
  });
});
