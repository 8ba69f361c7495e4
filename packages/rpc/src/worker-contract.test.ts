import type { MessageAck } from '@engine/wire';

import { addressOf, callerOf, RpcNode } from '../contract/rpc-node.js';
import { workerContract } from '../contract/worker-contract.js';
import { until } from '../contract/until.js';
import {
  MemoryLeaderDirectory,
  PartitionRouter,
  RemoteChannel,
  RemotePeer,
  RemoteScans,
  RoutedPeer,
  RoutedScans,
  RPC_MESSAGE_BYTES_MAX,
  WorkerLinks,
} from './index.js';
import { loadHashes } from '@engine/domain';
import { AckReturn } from './index.js';
import { system } from '../contract/rpc-node.js';

workerContract('a worker that is called', (worker) => {
  const returnedAcks: MessageAck[] = [];
  const acknowledge = (ack: MessageAck): void => {
    returnedAcks.push(ack);
  };
  const dispose = (): Promise<void> => Promise.resolve();
  const near = { channel: worker, peer: worker, scans: worker };
  return Promise.resolve({ ...near, returnedAcks, acknowledge, until, dispose });
});

workerContract('a worker over a connection', async (worker) => {
  const node = await RpcNode.start(worker);
  const caller = callerOf();
  const returnedAcks: MessageAck[] = [];
  const acknowledge = (ack: MessageAck): void => {
    returnedAcks.push(ack);
  };
  const to = { address: node.address, messageBytesMax: RPC_MESSAGE_BYTES_MAX };
  const channel = new RemoteChannel(to, caller);
  const remote = new RemotePeer({ ...to, acknowledge }, caller);
  const scans = new RemoteScans(node.address, caller);
  channel.start();
  remote.start();
  await until('both streams are open', () => channel.isOpen && remote.isOpen);
  return {
    channel,
    peer: {
      deliver: (batch) => {
        remote.deliver(batch);
      },
      acknowledge,
    },
    scans,
    returnedAcks,
    acknowledge: (ack) => {
      node.acks.acknowledge(ack);
    },
    until,
    dispose: async () => {
      channel.stop();
      remote.stop();
      scans.stop();
      await node.server[Symbol.asyncDispose]();
    },
  };
});

workerContract('a worker behind a router', async (worker) => {
  const node = await RpcNode.start(worker);
  const hashes = await loadHashes();
  const caller = callerOf();
  const returnedAcks: MessageAck[] = [];
  const leader = { nodeId: 'worker', address: addressOf(node.server.port) };
  // One partition, so that scans come in the worker's own order; messages may name further ones.
  const directory = new MemoryLeaderDirectory([leader]);
  const links = new WorkerLinks({ messageBytesMax: RPC_MESSAGE_BYTES_MAX }, caller);
  const parts = { ...caller, directory, links, hashes };
  const router = new PartitionRouter({ leaderWaitMs: 5_000 }, parts);
  const everybody = { ...directory.current, leaderOf: () => leader };
  const peer = new RoutedPeer({
    directory: {
      current: everybody,
      watch: () => ({ cancel: () => undefined }),
      refresh: () => undefined,
    },
    links,
    nodeId: 'near',
    local: () => ({
      deliver: () => undefined,
      acknowledge: (ack) => {
        returnedAcks.push(ack);
      },
    }),
    acks: new AckReturn(),
  });
  await router.start();
  links.peer(leader.address);
  await until(
    'open',
    () => links.channel(leader.address).isOpen && links.peer(leader.address).isOpen,
  );
  return {
    channel: router,
    asksAgain: true,
    peer,
    scans: new RoutedScans({ leaderWaitMs: 100 }, { ...parts, ...system }),
    returnedAcks,
    acknowledge: (ack) => {
      node.acks.acknowledge(ack);
    },
    until,
    dispose: async () => {
      await router[Symbol.asyncDispose]();
      links.stop();
      await node.server[Symbol.asyncDispose]();
    },
  };
});
