import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';
import type { LogPosition } from '@engine/log';
import { seededRandom, systemClock } from '@engine/runtime';
import { TABLES, type KvEntry } from '@engine/storage';
import { encodeRow, positionRow } from '@engine/wire';
import * as fc from 'fast-check';

import type { SnapshotEvent } from './events.js';
import { SEGMENT_BYTES } from './limits.js';
import { MemoryObjectStore } from './memory-object-store.js';
import { PartitionSnapshots, type RestoreTarget } from './partition-snapshots.js';

const ONE = toPartitionId(1);
const TWO = toPartitionId(2);
const { signal } = new AbortController();

class Target implements RestoreTarget {
  readonly rows: [string, string][] = [];
  sliceBytesMax = 0;

  write(rows: readonly KvEntry[]): Promise<void> {
    let bytes = 0;
    for (const { key, value } of rows) {
      this.rows.push([Buffer.from(key).toString('hex'), Buffer.from(value).toString('hex')]);
      bytes += key.length + value.length;
    }
    this.sliceBytesMax = Math.max(this.sliceBytesMax, bytes);
    return Promise.resolve();
  }

  problem({ sequence }: LogPosition): Promise<string | undefined> {
    const key = TABLES.position.toString(16);
    const stored = this.rows.findLast(([each]) => each === key)?.[1] ?? '';
    const found = positionRow.read(Buffer.from(stored, 'hex')).sequence;
    return Promise.resolve(found === sequence ? undefined : 'another place');
  }
}

function positionEntry(sequence: bigint): KvEntry {
  const row = { epoch: 2n, sequence, chain: sequence * 7n, oldest: 1n, writtenBytes: 500 };
  return { key: Uint8Array.of(TABLES.position), value: encodeRow(positionRow, row) };
}

async function* pagesOf(rows: readonly KvEntry[], size = 10): AsyncGenerator<readonly KvEntry[]> {
  for (let at = 0; at < rows.length; at += size) {
    await Promise.resolve();
    yield rows.slice(at, at + size);
  }
}

function harness(objects = new MemoryObjectStore(), options: { readonly cluster?: string } = {}) {
  const events: SnapshotEvent[] = [];
  const snapshots = new PartitionSnapshots(
    { cluster: 'a b/c', incarnation: 1n, node: 'n1', ...options },
    {
      objects,
      clock: systemClock,
      random: seededRandom(1),
      onEvent: (event) => events.push(event),
    },
  );
  const take = (sequence: bigint, partition = ONE, rows: readonly KvEntry[] = []) =>
    snapshots.take({
      partition,
      sequence,
      rows: pagesOf([...rows, positionEntry(sequence)]),
      signal,
    });
  const restore = async (partition = ONE) => {
    const targets: Target[] = [];
    const begin = (): Target => {
      const target = new Target();
      targets.push(target);
      return target;
    };
    const position = await snapshots.restore(partition, begin, signal);
    return { position, target: targets.at(-1), tried: targets.length };
  };
  return { objects, events, snapshots, take, restore };
}

const hex = (rows: readonly KvEntry[]): [string, string][] =>
  rows.map(({ key, value }) => [
    Buffer.from(key).toString('hex'),
    Buffer.from(value).toString('hex'),
  ]);

const storage: unknown = expect.objectContaining({ code: 'storage' });

describe('PartitionSnapshots', () => {
  it('gives back what was taken, whatever the rows', async () => {
    const row = fc.record({
      key: fc.uint8Array({ minLength: 2, maxLength: 40 }),
      value: fc.uint8Array({ maxLength: 3_000, size: 'max' }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 60 }), async (rows) => {
        const { take, restore } = harness();
        await take(9n, ONE, rows);
        const { position, target } = await restore();
        expect(position).toEqual({ epoch: 2n, sequence: 9n, chain: 63n });
        expect(target?.rows).toEqual(hex([...rows, positionEntry(9n)]));
      }),
      { numRuns: 50 },
    );
  });

  it('cuts what is large into segments, and hands it out in slices', async () => {
    const { objects, take, restore } = harness();
    const rows = Array.from({ length: 400 }, (_, at) => ({
      key: Uint8Array.of(1, at >> 8, at),
      value: Uint8Array.from({ length: 50_000 }, (__, byte) => (at * byte * 31) >> 3),
    }));
    const { manifest } = await take(5n, ONE, rows);
    expect(manifest.segments).toHaveLength(Math.ceil((400 * 50_000) / SEGMENT_BYTES));
    expect(objects.objects.size).toBe(manifest.segments.length + 1);
    const { target } = await restore();
    expect(target?.rows).toHaveLength(401);
    expect(target?.sliceBytesMax).toBeLessThan(1_200_000);
  });

  it('keeps partitions, clusters and incarnations apart', async () => {
    const objects = new MemoryObjectStore();
    const own = harness(objects);
    await own.take(5n);
    await own.take(6n, TWO);
    const other = harness(objects, { cluster: 'other' });
    await other.take(7n);
    expect((await own.restore()).position?.sequence).toBe(5n);
    expect((await own.restore(TWO)).position?.sequence).toBe(6n);
    expect((await own.restore(toPartitionId(3))).position).toBeUndefined();
    expect((await own.snapshots.list(ONE)).map(({ manifest }) => manifest.node)).toEqual(['n1']);
  });

  it('restores the newest, by what it holds', async () => {
    const { take, restore, snapshots } = harness();
    await take(5n);
    await take(1_000n);
    await take(20n);
    expect((await restore()).position?.sequence).toBe(1_000n);
    const found = (await snapshots.list(ONE)).map(({ manifest }) => manifest.position.sequence);
    expect(found).toEqual([1_000n, 20n, 5n]);
  });

  it('keeps the two newest, and deletes older ones and what was left behind', async () => {
    const { objects, snapshots, take } = harness();
    await take(5n);
    await take(6n);
    await take(7n);
    const [newest] = await snapshots.list(ONE);
    const before = (newest?.name ?? '').replace(/7-.*/, '6-dead');
    const after = (newest?.name ?? '').replace(/7-.*/, '8-busy');
    const prefix = [...objects.objects.keys()][0]?.split('/').slice(0, 3).join('/') ?? '';
    await objects.put(`${prefix}/${before}/000000.zst`, Uint8Array.of(1));
    await objects.put(`${prefix}/${after}/000000.zst`, Uint8Array.of(1));
    const kept = await snapshots.prune(ONE);
    expect(kept.map(({ manifest }) => manifest.position.sequence)).toEqual([7n, 6n]);
    expect(await snapshots.list(ONE)).toEqual(kept);
    const names = new Set([...objects.objects.keys()].map((name) => name.split('/')[3]));
    expect([...names].sort()).toEqual([kept[1]?.name, kept[0]?.name, after]);
  });

  it.each(['manifest', 'segment'] as const)(
    'skips one whose %s is damaged or gone',
    async (what) => {
      const spoil: ((objects: Map<string, Uint8Array>, name: string) => void)[] = [
        (objects, name) => objects.delete(name),
        (objects, name) => objects.set(name, Uint8Array.of()),
        (objects, name) => objects.set(name, objects.get(name)?.slice(0, -1) ?? Uint8Array.of()),
        (objects, name) => {
          const bytes = objects.get(name) ?? Uint8Array.of();
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        },
      ];
      for (const damage of spoil) {
        const { objects, take, restore, events } = harness();
        await take(5n);
        const { name: damaged } = await take(6n);
        const object = [...objects.objects.keys()].find(
          (name) => name.includes(damaged) && name.endsWith('json') === (what === 'manifest'),
        );
        damage(objects.objects, object ?? '');
        const { position, target } = await restore();
        expect(position?.sequence).toBe(5n);
        expect(target?.rows).toEqual(hex([positionEntry(5n)]));
        const skipped = events.filter(({ kind }) => kind === 'skipped');
        const isInvisible = what === 'manifest' && !objects.objects.has(object ?? '');
        expect(skipped).toHaveLength(isInvisible ? 0 : 1);
      }
    },
  );

  it('every single byte of a snapshot is covered', async () => {
    const { objects, take, restore } = harness();
    await take(5n);
    await take(6n, ONE, [{ key: Uint8Array.of(1, 1), value: Uint8Array.of(1, 2, 3) }]);
    const newest = [...objects.objects.keys()].slice(-2);
    for (const name of newest) {
      const bytes = objects.objects.get(name) ?? Uint8Array.of();
      // The line's end in the manifest means nothing.
      const length = name.endsWith('json') ? bytes.length - 1 : bytes.length;
      for (let at = 0; at < length; at += 1) {
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
        const sequence = (await restore()).position?.sequence;
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
        if (at !== 64 || !name.endsWith('json')) expect(sequence).toBe(5n);
      }
    }
    expect((await restore()).position?.sequence).toBe(6n);
  });

  it('says so when none of several is whole; a single one is no loss, for nothing was trimmed', async () => {
    const { objects, take, restore } = harness();
    await take(5n);
    const spoil = (): void => {
      for (const bytes of objects.objects.values()) bytes[0] = (bytes[0] ?? 0) ^ 1;
    };
    spoil();
    expect((await restore()).position).toBeUndefined();
    spoil();
    await take(6n);
    spoil();
    await expect(restore()).rejects.toThrow(storage);
  });

  it('rows that do not stand where the manifest says are skipped', async () => {
    const { snapshots, take, restore } = harness();
    await take(5n);
    const rows = pagesOf([positionEntry(6n), positionEntry(7n)], 1);
    await snapshots.take({ partition: ONE, sequence: 6n, rows, signal });
    await snapshots.take({
      partition: ONE,
      sequence: 8n,
      rows: pagesOf([positionEntry(8n), positionEntry(7n)], 2),
      signal,
    });
    const { position, tried } = await restore();
    expect(position?.sequence).toBe(7n);
    expect(tried).toBe(2);
  });

  it('what fails on the way does not count and is cleared away, whichever call it is', async () => {
    for (let failing = 0; ; failing += 1) {
      let isArmed = false;
      let calls = 0;
      const objects = new MemoryObjectStore({
        beforeCall: () => {
          if (!isArmed) return undefined;
          calls += 1;
          if (calls === failing + 1) throw new Error('the network is down');
          return undefined;
        },
      });
      const { take, restore } = harness(objects);
      await take(5n);
      const before = [...objects.objects.keys()];
      isArmed = true;
      const taken = await take(6n).catch(() => undefined);
      isArmed = false;
      if (taken !== undefined) {
        expect(failing).toBeGreaterThan(3);
        break;
      }
      expect([...objects.objects.keys()]).toEqual(before);
      expect((await restore()).position?.sequence).toBe(5n);
    }
  });

  it('finds that a store keeps something else than it was given', async () => {
    const objects = new MemoryObjectStore();
    const put = objects.put.bind(objects);
    objects.put = (name, bytes) => put(name, bytes.slice(0, -1));
    const { take, snapshots } = harness(objects);
    await expect(take(5n)).rejects.toThrow(storage);
    expect(await snapshots.list(ONE)).toEqual([]);
  });

  it('leaves the rows as soon as it is told to stop, whatever the store does', async () => {
    const hangs = new MemoryObjectStore({
      beforeCall: ({ kind }) => (kind === 'put' ? new Promise(() => undefined) : undefined),
    });
    const { snapshots } = harness(hangs);
    const abort = new AbortController();
    let isLeft = false;
    const rows = (async function* () {
      try {
        await Promise.resolve();
        yield [{ key: Uint8Array.of(1), value: new Uint8Array(SEGMENT_BYTES) }];
        yield [positionEntry(5n)];
      } finally {
        isLeft = true;
      }
    })();
    const taking = snapshots.take({ partition: ONE, sequence: 5n, rows, signal: abort.signal });
    setImmediate(() => {
      abort.abort(new Error('too late'));
    });
    await expect(taking).rejects.toThrow('too late');
    expect(isLeft).toBe(true);
  });

  it('rows without a position are refused', async () => {
    const { snapshots } = harness();
    const rows = pagesOf([{ key: Uint8Array.of(1), value: Uint8Array.of() }]);
    const taking = snapshots.take({ partition: ONE, sequence: 0n, rows, signal });
    await expect(taking).rejects.toThrow(storage);
  });
});
