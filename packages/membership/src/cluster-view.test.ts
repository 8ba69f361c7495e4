import { describe, expect, it } from '@jest/globals';
import { toPartitionId, type PartitionId } from '@engine/domain';
import { PARTITION_TABLE_DOCUMENT } from '@engine/metadata';
import type { NodeControl } from '@engine/wire';

import { MemberPeers } from './member-peers.js';
import { TableDirectory } from './table-directory.js';
import { MemberBench, nodeId, tableOf } from '../contract/member-bench.js';

const P0: PartitionId = toPartitionId(0);

const CONTROL: NodeControl = {
  reports: () => Promise.resolve(new Map()),
  stopLeading: () => Promise.resolve(),
  applied: () => Promise.resolve(undefined),
};

describe('the view of the cluster', () => {
  it('tells each newer table once, in order', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    for (let version = 1; version <= 3; version += 1) {
      await bench.writeTable(tableOf(version, ['w1']));
      await bench.time.pass(10);
    }
    await node.view.refresh();
    expect(node.told).toEqual(['held', 'table 1', 'table 2', 'table 3']);
  });

  it('learns of new nodes by and by, and of a leader that it does not know at once', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    const second = await bench.start('w2');
    expect(node.view.nodes.map(({ id }) => id)).toEqual(['w1']);
    await bench.time.pass(2_500);
    expect(node.view.nodes.map(({ id }) => id)).toEqual(['w1', 'w2']);
    await bench.start('w3');
    await bench.writeTable(tableOf(1, ['w3']));
    await bench.time.pass(10);
    expect(second.view.node(nodeId('w3'))?.addresses.internal).toBe('w3:5122');
  });

  it('goes by the last good table when a newer one cannot be read', async () => {
    const bench = new MemberBench();
    await bench.writeTable(tableOf(1, ['w1']));
    const node = await bench.start('w1');
    const version = (await bench.store.get(PARTITION_TABLE_DOCUMENT))?.version ?? 'absent';
    await bench.store.put(PARTITION_TABLE_DOCUMENT, Uint8Array.of(1), version);
    await bench.time.pass(5_000);
    expect(node.view.table?.version).toBe(1);
  });

  it('tells nothing after it has ended', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    await bench.time.until(node.dispose());
    await bench.writeTable(tableOf(1, ['w1']));
    await bench.time.pass(5_000);
    expect(node.told).toEqual(['held', 'lost']);
  });
});

describe('the directory of leaders', () => {
  it('names leaders that the table and their documents name', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    const directory = new TableDirectory(node.view, 2);
    let changes = 0;
    const watch = directory.watch(() => (changes += 1));
    expect(directory.current.leaderOf(P0)).toBeUndefined();
    await bench.writeTable(tableOf(1, ['w1', 'w2']));
    await bench.time.pass(2_500);
    const before = directory.current;
    expect(before.leaderOf(P0)).toEqual({ nodeId: 'w1', address: 'w1:5122' });
    expect(before.leaderOf(toPartitionId(1))).toBeUndefined();
    await bench.start('w2');
    directory.refresh();
    await bench.time.pass(10);
    expect(directory.current.leaderOf(toPartitionId(1))?.address).toBe('w2:5122');
    expect(before.leaderOf(toPartitionId(1))).toBeUndefined();
    expect(changes).toBe(2);
    watch.cancel();
    await bench.writeTable(tableOf(2, ['w2', 'w2']));
    await bench.time.pass(10);
    expect(directory.current.leaderOf(P0)?.nodeId).toBe('w2');
    expect(changes).toBe(2);
  });

  it('does not change when the table does and the leaders do not', async () => {
    const bench = new MemberBench();
    await bench.writeTable(tableOf(1, ['w1']));
    const node = await bench.start('w1');
    await bench.time.pass(2_500);
    const directory = new TableDirectory(node.view, 1);
    const { current } = directory;
    await bench.writeTable(tableOf(2, ['w1']));
    await bench.time.pass(10);
    expect(directory.current).toBe(current);
  });
});

describe('the peers of a node', () => {
  it('are the other workers, each reached at its address of the moment', async () => {
    const bench = new MemberBench();
    const node = await bench.start('w1');
    await bench.start('w2');
    await bench.start('admin', { roles: ['admin'] });
    await bench.time.pass(2_500);
    const asked: string[] = [];
    const controlAt = (address: string): NodeControl => {
      asked.push(address);
      return CONTROL;
    };
    const peers = new MemberPeers({ self: nodeId('w1') }, { view: node.view, controlAt });
    expect(peers.workers).toEqual(['w2']);
    expect(peers.control(nodeId('w2'))).toBe(CONTROL);
    expect(peers.control(nodeId('w2'))).toBe(CONTROL);
    expect(peers.control(nodeId('w9'))).toBeUndefined();
    expect(new Set(asked)).toEqual(new Set(['w2:5122']));
  });
});
