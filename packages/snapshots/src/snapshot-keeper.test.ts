import { describe, expect, it } from '@jest/globals';
import {
  toPartitionId,
  type NodeId,
  type PartitionId,
  type PartitionPhase,
  type PartitionReport,
} from '@engine/domain';
import { seededRandom } from '@engine/runtime';
import { TABLES, type KvEntry } from '@engine/storage';
import { encodeRow, positionRow, type NodeControl } from '@engine/wire';

import type { SnapshotEvent } from './events.js';
import {
  KEEPER_RETRY_MS,
  KEEPER_ROUND_MS,
  SEGMENT_BYTES,
  SNAPSHOT_MS_MAX,
  STANDBY_GRACE_MS,
} from './limits.js';
import { MemoryObjectStore, type ObjectCall } from './memory-object-store.js';
import { PartitionSnapshots } from './partition-snapshots.js';
import { SnapshotKeeper } from './snapshot-keeper.js';

const ONE = toPartitionId(1);
const TWO = toPartitionId(2);
const PEER = 'peer' as NodeId;

function report(phase: PartitionPhase, applied: bigint): PartitionReport {
  const flags = { isCaughtUp: true, isStuck: false, fault: undefined };
  return { phase, epoch: 1n, logEpoch: 1n, applied, ...flags };
}

/** A node with replicas that grow by hand, on a clock that goes by hand. */
class Node {
  nowMs = 1_000_000;
  readonly sequences = new Map<PartitionId, bigint>();
  readonly phases = new Map<PartitionId, PartitionPhase>();
  readonly trims: [PartitionId, bigint][] = [];
  readonly events: SnapshotEvent[] = [];
  readonly timers = new Set<{ readonly at: number; readonly fn: () => void }>();
  /** What the other node answers; undefined: it does not. */
  peer: ReadonlyMap<PartitionId, PartitionReport> | undefined = new Map();
  /** Before each call of the object store. */
  beforeCall: (call: ObjectCall) => Promise<void> | undefined = () => undefined;
  /** While rows are asked for. */
  beforeRows = (): void => undefined;
  openRanges = 0;
  readonly objects = new MemoryObjectStore({ beforeCall: (call) => this.beforeCall(call) });
  readonly snapshots: PartitionSnapshots;
  readonly keeper: SnapshotKeeper;

  constructor() {
    const clock = { now: () => this.nowMs, monotonic: () => this.nowMs };
    const scheduler = {
      immediate: (fn: () => void) => void setImmediate(fn),
      after: (ms: number, fn: () => void) => {
        const timer = { at: this.nowMs + ms, fn };
        this.timers.add(timer);
        return { cancel: () => void this.timers.delete(timer) };
      },
    };
    this.snapshots = new PartitionSnapshots(
      { cluster: 'c', incarnation: 1n, node: 'own' },
      { objects: this.objects, clock, random: seededRandom(1) },
    );
    const peers = { workers: [PEER], control: () => this.#peerControl() };
    const trim = (partition: PartitionId, sequence: bigint): Promise<bigint> => {
      this.trims.push([partition, sequence]);
      return Promise.resolve(sequence + 1n);
    };
    this.keeper = new SnapshotKeeper(
      { intervalMs: 60_000, intervalRecords: 100n },
      {
        snapshots: this.snapshots,
        replicas: this.#replicas(),
        control: { reports: () => Promise.resolve(this.#reports()) },
        peers,
        trim,
        clock,
        scheduler,
        onEvent: (event) => this.events.push(event),
      },
    );
  }

  lead(partition: PartitionId, sequence: bigint): void {
    this.phases.set(partition, 'leader');
    this.sequences.set(partition, sequence);
  }

  async taken(partition: PartitionId): Promise<bigint[]> {
    const found = await this.snapshots.list(partition);
    return found.map(({ manifest }) => manifest.position.sequence);
  }

  kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }

  /** From now on puts hang. Resolves when one does. */
  hangOnPut(): Promise<void> {
    return new Promise((resolve) => {
      this.beforeCall = ({ kind }) => {
        if (kind !== 'put') return undefined;
        resolve();
        return new Promise(() => undefined);
      };
    });
  }

  /** Lets timers run that are due after `ms`. */
  advance(ms: number): void {
    this.nowMs += ms;
    for (const timer of [...this.timers]) {
      if (timer.at > this.nowMs) continue;
      this.timers.delete(timer);
      timer.fn();
    }
  }

  #reports(): ReadonlyMap<PartitionId, PartitionReport> {
    return new Map(
      [...this.phases].map(([id, phase]) => [id, report(phase, this.sequences.get(id) ?? 0n)]),
    );
  }

  #peerControl(): NodeControl {
    return {
      reports: () =>
        this.peer === undefined ? Promise.reject(new Error('gone')) : Promise.resolve(this.peer),
      stopLeading: () => Promise.resolve(),
      applied: () => Promise.resolve(undefined),
    };
  }

  #replicas(): ConstructorParameters<typeof SnapshotKeeper>[1]['replicas'] {
    return {
      opened: (partition) => {
        const sequence = this.sequences.get(partition);
        return sequence === undefined ? undefined : { position: { sequence }, writtenBytes: 0 };
      },
      rows: async (partition) => {
        await Promise.resolve();
        this.beforeRows();
        return this.#rowsAt(this.sequences.get(partition) ?? 0n);
      },
    };
  }

  async *#rowsAt(sequence: bigint): AsyncGenerator<readonly KvEntry[]> {
    this.openRanges += 1;
    try {
      await Promise.resolve();
      const row = { epoch: 1n, sequence, chain: 0n, oldest: 1n, writtenBytes: 0 };
      yield [{ key: Uint8Array.of(TABLES.position), value: encodeRow(positionRow, row) }];
      yield [{ key: Uint8Array.of(TABLES.chain), value: new Uint8Array(SEGMENT_BYTES) }];
    } finally {
      this.openRanges -= 1;
    }
  }
}

describe('SnapshotKeeper', () => {
  it('takes what is due, keeps two, and trims behind the older', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    for (const sequence of [100n, 150n, 250n, 260n, 400n]) {
      node.sequences.set(ONE, sequence);
      await node.keeper.round();
    }
    expect(await node.taken(ONE)).toEqual([400n, 250n]);
    expect(node.trims).toEqual([
      [ONE, 100n],
      [ONE, 250n],
    ]);
    expect(node.kinds()).toEqual(['taken', 'taken', 'trimmed', 'taken', 'trimmed']);
    node.nowMs += 60_000;
    node.sequences.set(ONE, 401n);
    await node.keeper.round();
    expect(await node.taken(ONE)).toEqual([401n, 400n]);
    expect(node.openRanges).toBe(0);
  });

  it('names a snapshot after what it holds at least, though records come while its rows are waited for', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    node.beforeRows = () => {
      node.lead(ONE, 107n);
    };
    await node.keeper.round();
    const [taken] = await node.snapshots.list(ONE);
    expect(taken?.name).toMatch(/^0+100-/);
    expect(taken?.manifest.position.sequence).toBe(107n);
  });

  it('leaves alone what it does not lead', async () => {
    const node = new Node();
    node.lead(ONE, 500n);
    node.phases.set(ONE, 'follower');
    await node.keeper.round();
    expect(node.events).toEqual([]);
    await expect(node.keeper.take(ONE)).rejects.toThrow(
      expect.objectContaining({ code: 'unavailable' }),
    );
  });

  it('goes on where the leader before it stopped', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    await node.keeper.round();
    node.phases.set(ONE, 'follower');
    await node.keeper.round();
    node.phases.set(ONE, 'leader');
    node.sequences.set(ONE, 199n);
    await node.keeper.round();
    expect(await node.taken(ONE)).toEqual([100n]);
    node.sequences.set(ONE, 200n);
    await node.keeper.round();
    expect(await node.taken(ONE)).toEqual([200n, 100n]);
    expect(node.trims).toEqual([[ONE, 100n]]);
  });

  it('does not trim above a living standby, for an hour', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    node.peer = new Map([[ONE, report('follower', 40n)]]);
    await node.keeper.round();
    node.sequences.set(ONE, 200n);
    await node.keeper.round();
    expect(node.trims).toEqual([[ONE, 40n]]);
    node.peer = new Map([[ONE, report('follower', 70n)]]);
    await node.keeper.round();
    expect(node.trims.at(-1)).toEqual([ONE, 70n]);
    node.nowMs += STANDBY_GRACE_MS;
    await node.keeper.round();
    expect(node.trims.at(-1)).toEqual([ONE, 100n]);
    expect(node.trims).toHaveLength(3);
  });

  it.each([
    ['is gone', undefined],
    ['has no replica', new Map([[ONE, report('idle', 0n)]])],
    ['is in quarantine', new Map([[ONE, report('quarantined', 3n)]])],
    ['has no part in the partition', new Map([[TWO, report('follower', 3n)]])],
  ])('does not wait for a node that %s', async (_what, peer) => {
    const node = new Node();
    node.lead(ONE, 100n);
    node.peer = peer;
    await node.keeper.round();
    node.sequences.set(ONE, 200n);
    await node.keeper.round();
    expect(node.trims).toEqual([[ONE, 100n]]);
  });

  it('looks once more for the snapshots before it trims', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    node.peer = new Map([[ONE, report('follower', 0n)]]);
    await node.keeper.round();
    node.sequences.set(ONE, 200n);
    await node.keeper.round();
    const [newest] = await node.snapshots.list(ONE);
    for (const name of node.objects.objects.keys()) {
      if (!name.includes(newest?.name ?? '')) node.objects.objects.delete(name);
    }
    node.peer = undefined;
    await node.keeper.round();
    expect(node.trims).toEqual([]);
  });

  it('waits longer after each failure, reports it, and keeps nobody else from their turn', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    node.lead(TWO, 100n);
    node.beforeCall = ({ name }) => {
      if (name.includes('partition-1/')) throw new Error('no such day');
      return undefined;
    };
    await node.keeper.round();
    await node.keeper.round();
    expect(node.kinds()).toEqual(['failed', 'taken']);
    for (const waits of [1, 2, 4]) {
      node.nowMs += waits * KEEPER_RETRY_MS - 1;
      await node.keeper.round();
      const before = node.events.length;
      node.nowMs += 1;
      await node.keeper.round();
      expect(node.events.length).toBe(before + 1);
      expect(node.events.at(-1)).toMatchObject({ kind: 'failed', partition: ONE });
    }
    node.beforeCall = () => undefined;
    node.nowMs += 100 * KEEPER_RETRY_MS;
    await node.keeper.round();
    expect(await node.taken(ONE)).toEqual([100n]);
  });

  it('takes one partition at a time, and rests between', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    node.lead(TWO, 100n);
    node.beforeCall = ({ kind }) => {
      if (kind === 'put') node.nowMs += 1_000;
      return undefined;
    };
    await node.keeper.round();
    expect(node.kinds()).toEqual(['taken']);
    node.nowMs += 5_999;
    await node.keeper.round();
    expect(node.kinds()).toEqual(['taken']);
    node.nowMs += 1;
    await node.keeper.round();
    expect(node.kinds()).toEqual(['taken', 'taken']);
  });

  it('takes one on demand, whatever the policy says', async () => {
    const node = new Node();
    node.lead(ONE, 3n);
    const { manifest } = await node.keeper.take(ONE);
    expect(manifest.position.sequence).toBe(3n);
    node.beforeCall = () => {
      throw new Error('no such day');
    };
    await expect(node.keeper.take(ONE)).rejects.toThrow('no such day');
  });

  it('lets go of the rows when it takes too long', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    const hung = node.hangOnPut();
    const round = node.keeper.round();
    await hung;
    expect(node.openRanges).toBe(1);
    node.advance(SNAPSHOT_MS_MAX);
    await round;
    expect(node.openRanges).toBe(0);
    expect(node.kinds()).toEqual(['failed']);
  });

  it('looks by itself until it is stopped, also in the middle of a snapshot', async () => {
    const node = new Node();
    node.lead(ONE, 100n);
    await node.keeper.start();
    expect(node.timers.size).toBe(1);
    const hung = node.hangOnPut();
    node.advance(KEEPER_ROUND_MS);
    await hung;
    expect(node.openRanges).toBe(1);
    await node.keeper[Symbol.asyncDispose]();
    expect(node.openRanges).toBe(0);
    expect(node.timers.size).toBe(0);
    expect(node.events).toEqual([]);
  });
});
