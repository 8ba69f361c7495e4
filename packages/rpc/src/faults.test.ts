import { connect, createServer } from 'node:net';

import { toPartitionId, type PartitionAnswer, type PartitionRequest } from '@engine/domain';
import { arbitraryRequest } from '@engine/wire/contract';
import { afterEach, describe, expect, it } from '@jest/globals';

import { BreakableLine } from '../contract/breakable-line.js';
import {
  addressOf,
  callerOf,
  introductionOf,
  RpcNode,
  type CallerOptions,
  type NodeOptions,
} from '../contract/rpc-node.js';
import { ScriptedWorker } from '../contract/scripted-worker.js';
import { until } from '../contract/until.js';
import { sampleOf, sampleRequests } from '../contract/worker-contract.js';
import { RemoteChannel, RemotePeer, RemoteScans, RPC_MESSAGE_BYTES_MAX } from './index.js';

const KEEPALIVE_MS = 100;
const QUICK = { keepaliveMs: KEEPALIVE_MS };
const DISCONNECTED = { kind: 'unavailable', reason: 'disconnected' };
const OVERLOADED = { kind: 'unavailable', reason: 'overloaded' };
const PAYLOAD_BYTES = 4 * 1024 * 1024;

let ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.reverse()) end();
  ends = [];
});

interface World {
  readonly worker: ScriptedWorker;
  readonly node: RpcNode;
  readonly line: BreakableLine;
  readonly channel: RemoteChannel;
  readonly caller: ReturnType<typeof callerOf>;
}

async function startWorld(
  nodeOptions: NodeOptions = {},
  callerOptions: CallerOptions = {},
): Promise<World> {
  const worker = new ScriptedWorker();
  const node = await RpcNode.start(worker, nodeOptions);
  const line = await BreakableLine.to(node.server.port);
  const caller = callerOf(callerOptions);
  const to = { address: addressOf(line.port), messageBytesMax: RPC_MESSAGE_BYTES_MAX };
  const channel = new RemoteChannel(to, caller);
  ends.push(
    () => node.server.kill(),
    () => line.close(),
    () => channel.stop(),
  );
  channel.start();
  return { worker, node, line, channel, caller };
}

/** Sends and collects what is answered, by request id. */
function sendAll(
  channel: RemoteChannel,
  requests: readonly PartitionRequest[],
): Map<string, PartitionAnswer[]> {
  const answers = new Map<string, PartitionAnswer[]>();
  for (const request of requests) {
    channel.send(request, (answer) => {
      const list = answers.get(request.requestId) ?? [];
      answers.set(request.requestId, [...list, answer]);
    });
  }
  return answers;
}

function bigInvoke(requestId: string, bytes = PAYLOAD_BYTES): PartitionRequest {
  const [sample] = sampleOf(
    arbitraryRequest.filter(({ kind }) => kind === 'invoke'),
    1,
  );
  if (sample?.kind !== 'invoke') throw new Error('the sample has an invocation');
  const payload = new Uint8Array(bytes);
  return { ...sample, requestId, invocation: { ...sample.invocation, payload } };
}

describe('a channel whose connection breaks', () => {
  it('answers disconnected to all that wait, once, and serves again after it has reconnected', async () => {
    const { worker, line, channel } = await startWorld();
    await until('open', () => channel.isOpen);
    const requests = sampleRequests(20);
    const answers = sendAll(channel, requests);
    await until('all have come', () => worker.asked.length === 20);
    line.cut();
    await until('all are answered', () => answers.size === 20);
    expect([...answers.values()]).toEqual(requests.map(() => [DISCONNECTED]));
    await until('the worker knows that nobody waits', () =>
      worker.asked.every(({ isWithdrawn }) => isWithdrawn),
    );
    await until('open again', () => channel.isOpen);
    const again = sendAll(channel, requests);
    await until('all have come again', () => worker.asked.length === 40);
    for (const { respond } of worker.asked) respond({ kind: 'not-found' });
    await until('all are answered again', () => again.size === 20);
    expect([...again.values()]).toEqual(requests.map(() => [{ kind: 'not-found' }]));
    expect([...answers.values()]).toEqual(requests.map(() => [DISCONNECTED]));
  });

  it('finds a server that was killed and started again on the same port', async () => {
    const { worker, node, line, channel } = await startWorld();
    await until('open', () => channel.isOpen);
    const answers = sendAll(channel, sampleRequests(5));
    await until('all have come', () => worker.asked.length === 5);
    node.server.kill();
    await until('all are answered', () => answers.size === 5);
    const next = await RpcNode.start(worker);
    ends.push(() => next.server.kill());
    line.retarget(next.server.port);
    await until('open again', () => channel.isOpen);
  });

  it('answers disconnected at once while there is no connection', async () => {
    const { line, channel } = await startWorld();
    await until('open', () => channel.isOpen);
    line.isRefusing = true;
    line.cut();
    await until('closed', () => !channel.isOpen);
    const answers = sendAll(channel, sampleRequests(3));
    expect(answers.size).toBe(0);
    await until('answered', () => answers.size === 3);
    expect([...answers.values()].flat()).toEqual([DISCONNECTED, DISCONNECTED, DISCONNECTED]);
  });

  it('notices on both ends when nothing passes any more', async () => {
    const { worker, line, channel } = await startWorld(QUICK, QUICK);
    await until('open', () => channel.isOpen);
    const answers = sendAll(channel, sampleRequests(3));
    await until('all have come', () => worker.asked.length === 3);
    line.freeze();
    await until('the caller knows', () => answers.size === 3);
    await until('the worker knows', () => worker.asked.every(({ isWithdrawn }) => isWithdrawn));
    line.thaw();
    line.cut();
    await until('open again', () => channel.isOpen);
  });

  it('takes no late answer of an earlier connection for that of a repeat', async () => {
    const { worker, line, channel } = await startWorld();
    await until('open', () => channel.isOpen);
    const [request] = sampleRequests(1);
    const first = sendAll(channel, [request!]);
    await until('it has come', () => worker.asked.length === 1);
    line.cut();
    await until('it is lost', () => first.size === 1);
    await until('open again', () => channel.isOpen);
    const again = sendAll(channel, [request!]);
    await until('it has come again', () => worker.asked.length === 2);
    worker.asked[0]!.respond({ kind: 'not-ready' });
    worker.asked[1]!.respond({ kind: 'not-found' });
    await until('answered', () => again.size === 1);
    expect([...again.values()]).toEqual([[{ kind: 'not-found' }]]);
  });

  it('stops with an answer for everybody', async () => {
    const { worker, channel } = await startWorld();
    await until('open', () => channel.isOpen);
    const answers = sendAll(channel, sampleRequests(2));
    await until('all have come', () => worker.asked.length === 2);
    channel.stop();
    expect([...answers.values()].flat()).toEqual([DISCONNECTED, DISCONNECTED]);
  });
});

describe('a peer that is slow', () => {
  it('a worker that does not read: requests are refused, memory stays', async () => {
    const { line, channel } = await startWorld();
    await until('open', () => channel.isOpen);
    line.freeze();
    const requests = Array.from({ length: 60 }, (_, index) => bigInvoke(`big-${String(index)}`));
    const answers = sendAll(channel, requests);
    await until('some are refused', () => answers.size > 0);
    expect(new Set([...answers.values()].flat().map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify(OVERLOADED)]),
    );
    // 64 MiB wait, 2 MiB and a batch are on their way.
    expect(requests.length - answers.size).toBeLessThanOrEqual(18);
  });

  it('a caller that does not read its answers: it is cut off', async () => {
    const { worker, line, channel } = await startWorld({}, {});
    await until('open', () => channel.isOpen);
    const answers = sendAll(channel, sampleRequests(60));
    await until('all have come', () => worker.asked.length === 60);
    line.freeze();
    const value = new Uint8Array(PAYLOAD_BYTES);
    const result = { kind: 'success', value } as const;
    for (const { respond } of worker.asked) {
      respond({ kind: 'result', result, expiresAt: undefined, target: undefined });
    }
    await until('nobody is waited for', () => worker.asked.some(({ isWithdrawn }) => isWithdrawn));
    line.thaw();
    await until('the caller asks again', () => answers.size === 60);
  });

  it('a request that no message holds is refused', async () => {
    const { channel } = await startWorld();
    await until('open', () => channel.isOpen);
    const answers = sendAll(channel, [bigInvoke('huge', RPC_MESSAGE_BYTES_MAX + 1)]);
    await until('refused', () => answers.size === 1);
    expect([...answers.values()].flat()).toEqual([OVERLOADED]);
    expect(channel.isOpen).toBe(true);
  });
});

describe('messages while the connection is away', () => {
  it('are dropped, and pass again afterwards', async () => {
    const { worker, line, caller } = await startWorld();
    const peer = new RemotePeer(
      {
        address: addressOf(line.port),
        messageBytesMax: RPC_MESSAGE_BYTES_MAX,
        acknowledge: () => undefined,
      },
      caller,
    );
    ends.push(() => peer.stop());
    peer.start();
    const [sender, destination] = [toPartitionId(1), toPartitionId(2)];
    const messages = [{ kind: 'kill', invocationId: 'inv_1' as never }] as const;
    peer.deliver({ sender, destination, first: 1, messages });
    await until('open', () => peer.isOpen);
    peer.deliver({ sender, destination, first: 2, messages });
    await until('it has come', () => worker.batches.length === 1);
    expect(worker.batches).toEqual([{ sender, destination, first: 2, messages }]);
  });
});

describe('nodes that do not fit', () => {
  it.each([
    ['another cluster', { clusterName: 'other' }, 'wrong-cluster'],
    ['newer roles', { protocol: { min: 2, max: 3 } }, 'incompatible'],
    ['newer stores', { storeFormat: { min: 7, max: 9 } }, 'incompatible'],
  ])('%s: refused with a clear error', async (_name, other, code) => {
    const { node, channel, worker } = await startWorld({
      introduction: introductionOf('worker', other),
    });
    const scans = new RemoteScans(node.address, callerOf());
    ends.push(() => scans.stop());
    const rows = scans.scan({ limit: 1 })[Symbol.asyncIterator]();
    const message = expect.stringContaining('node ') as unknown;
    await expect(rows.next()).rejects.toMatchObject({ code, message });
    const answers = sendAll(channel, sampleRequests(1));
    await until('answered', () => answers.size === 1);
    expect([...answers.values()].flat()).toEqual([DISCONNECTED]);
    expect(worker.asked).toEqual([]);
  });

  it('a server of something else is refused by the caller', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    ends.push(() => server.close());
    const { port } = server.address() as { port: number };
    const address = addressOf(port);
    const channel = new RemoteChannel({ address, messageBytesMax: 1_000 }, callerOf());
    ends.push(() => channel.stop());
    channel.start();
    const answers = sendAll(channel, sampleRequests(1));
    await until('answered', () => answers.size === 1);
    expect(channel.isOpen).toBe(false);
  });

  it('a connection that says nothing does not stay', async () => {
    const { node } = await startWorld();
    const socket = connect(node.server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('no such protocol\r\n\r\n');
    await new Promise<void>((resolve) => {
      socket.on('close', () => {
        resolve();
      });
      socket.resume();
    });
  });
});
