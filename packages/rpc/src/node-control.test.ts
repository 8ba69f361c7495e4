import { toPartitionId } from '@engine/domain';
import { afterEach, describe, expect, it } from '@jest/globals';

import { BreakableLine } from '../contract/breakable-line.js';
import { nodeContract } from '../contract/node-contract.js';
import {
  addressOf,
  callerOf,
  introductionOf,
  RpcNode,
  system,
  type CallerOptions,
  type NodeOptions,
} from '../contract/rpc-node.js';
import { ScriptedWorker } from '../contract/scripted-worker.js';
import { until } from '../contract/until.js';
import { NodeLinks, RemoteNode, RemoteScans, RPC_MESSAGE_BYTES_MAX, RpcServer } from './index.js';

const QUICK = { keepaliveMs: 100 };
const UNAVAILABLE = { code: 'unavailable' };
const PARTITION = toPartitionId(1);

let ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.reverse()) end();
  ends = [];
});

nodeContract('a node that is called', (control) =>
  Promise.resolve({ control, dispose: () => Promise.resolve() }),
);

nodeContract('a node over a connection', async (control) => {
  const server = new RpcServer(
    {
      host: '127.0.0.1',
      port: 0,
      introduction: introductionOf('worker'),
      messageBytesMax: RPC_MESSAGE_BYTES_MAX,
      tls: undefined,
    },
    { node: control, ...system },
  );
  await server.start();
  const links = new NodeLinks(callerOf());
  return {
    control: links.control(addressOf(server.port)),
    dispose: async () => {
      links.stop();
      await server[Symbol.asyncDispose]();
    },
  };
});

async function startWorld(nodeOptions: NodeOptions = {}, callerOptions: CallerOptions = QUICK) {
  const worker = new ScriptedWorker();
  const node = await RpcNode.start(worker, nodeOptions);
  const line = await BreakableLine.to(node.server.port);
  const remote = new RemoteNode(addressOf(line.port), callerOf(callerOptions));
  ends.push(
    () => node.server.kill(),
    () => line.close(),
    () => remote.stop(),
  );
  return { worker, node, line, remote };
}

describe('a node that cannot be reached', () => {
  it('is unavailable at once when its process is dead, and found again when it is back', async () => {
    const { worker, node, line, remote } = await startWorld();
    await remote.reports();
    const stop = remote.stopLeading(PARTITION, 2n);
    await until('it has come', () => worker.control.stops.length === 1);
    node.server.kill();
    line.cut();
    await expect(stop).rejects.toMatchObject(UNAVAILABLE);
    await expect(remote.reports()).rejects.toMatchObject(UNAVAILABLE);
    const again = await RpcNode.start(worker);
    ends.push(() => again.server.kill());
    line.retarget(again.server.port);
    // No hidden wait: the very next call makes a connection of its own.
    expect(await remote.reports()).toEqual(new Map());
  });

  it('is unavailable when it is frozen, also to who waits for it to stop', async () => {
    const { worker, line, remote } = await startWorld();
    const stop = remote.stopLeading(PARTITION, 2n);
    await until('it has come', () => worker.control.stops.length === 1);
    line.freeze();
    const reports = remote.reports();
    await expect(stop).rejects.toMatchObject(UNAVAILABLE);
    await expect(reports).rejects.toMatchObject(UNAVAILABLE);
    line.thaw();
    expect(await remote.applied(PARTITION)).toBeUndefined();
  });

  it('is unavailable when it does not answer in time', async () => {
    const { worker, node } = await startWorld();
    // By this clock the time is over before the call has left.
    const clock = { now: () => Date.now() - 60_000, monotonic: () => performance.now() };
    const remote = new RemoteNode(node.address, { ...callerOf(), clock });
    ends.push(() => remote.stop());
    await expect(remote.stopLeading(PARTITION, 2n)).rejects.toMatchObject(UNAVAILABLE);
    expect(worker.control.stops).toEqual([]);
  });
});

describe('a node that does not fit', () => {
  it.each([
    ['of another cluster', { clusterName: 'other' }, 'wrong-cluster'],
    ['with newer roles', { protocol: { min: 2, max: 3 } }, 'incompatible'],
  ])('%s is refused, and not asked again at once', async (_name, other, code) => {
    const { remote, line } = await startWorld({ introduction: introductionOf('worker', other) });
    await expect(remote.reports()).rejects.toMatchObject({ code });
    line.cut();
    await expect(remote.reports()).rejects.toMatchObject({ code });
    await expect(remote.stopLeading(PARTITION, 1n)).rejects.toMatchObject({ code });
  });

  it('a process without the role does not serve it', async () => {
    const server = new RpcServer(
      {
        host: '127.0.0.1',
        port: 0,
        introduction: introductionOf('admin'),
        messageBytesMax: RPC_MESSAGE_BYTES_MAX,
        tls: undefined,
      },
      system,
    );
    await server.start();
    const address = addressOf(server.port);
    const [remote, scans] = [
      new RemoteNode(address, callerOf()),
      new RemoteScans(address, callerOf()),
    ];
    ends.push(
      () => server.kill(),
      () => remote.stop(),
      () => scans.stop(),
    );
    await expect(remote.reports()).rejects.toMatchObject({ code: 'incompatible' });
    const rows = scans.scan({ limit: 1 })[Symbol.asyncIterator]();
    await expect(rows.next()).rejects.toMatchObject({ code: 'incompatible' });
  });

  it('a partition that there cannot be is refused', async () => {
    const { remote } = await startWorld();
    const stop = remote.stopLeading(toPartitionId(65_535), 1n);
    await expect(stop).rejects.toMatchObject({ code: 'bad-request' });
  });
});

describe('NodeLinks', () => {
  it('keeps one way to each address, and closes those to addresses that are gone', async () => {
    const { worker, node, line } = await startWorld();
    const links = new NodeLinks(callerOf());
    ends.push(() => links.stop());
    const [gone, stays] = [addressOf(line.port), node.address];
    const control = links.control(gone);
    expect(links.control(gone)).toBe(control);
    const stop = control.stopLeading(PARTITION, 2n);
    await until('it has come', () => worker.control.stops.length === 1);
    expect(await links.control(stays).reports()).toEqual(new Map());
    links.keep(new Set([stays]));
    await expect(stop).rejects.toMatchObject(UNAVAILABLE);
    await expect(control.reports()).rejects.toMatchObject(UNAVAILABLE);
    await until('the connection is gone', () => line.connectionCount === 0);
    expect(await links.control(stays).reports()).toEqual(new Map());
    links.stop();
    await expect(links.control(stays).reports()).rejects.toMatchObject(UNAVAILABLE);
  });

  it('a stop that is asked for again while it goes on is one stop at the node', async () => {
    const { worker, remote } = await startWorld();
    const stops = [1, 2, 3].map(() => remote.stopLeading(PARTITION, 2n));
    const later = remote.stopLeading(PARTITION, 3n);
    await until('both have come', () => worker.control.stops.length === 2);
    for (const { end } of worker.control.stops) end();
    await Promise.all([...stops, later]);
    expect(worker.control.stops.map(({ epoch }) => epoch)).toEqual([2n, 3n]);
  });
});
