import {
  EngineError,
  loadHashes,
  partitionOfInvocation,
  partitionOfRequest,
  toPartitionId,
  type InvocationId,
  type PartitionAnswer,
  type PartitionRequest,
} from '@engine/domain';
import { Readiness, seededRandom } from '@engine/runtime';
import type { InvocationSnapshot, MessageAck, ScanOptions } from '@engine/wire';
import { arbitraryInvocationId, arbitrarySnapshot } from '@engine/wire/contract';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { BreakableLine } from '../../contract/breakable-line.js';
import { addressOf, callerOf, RpcNode } from '../../contract/rpc-node.js';
import { ScriptedWorker } from '../../contract/scripted-worker.js';
import { until } from '../../contract/until.js';
import { sampleOf } from '../../contract/worker-contract.js';
import {
  awaitTable,
  MemoryLeaderDirectory,
  PartitionRouter,
  RoutedPeer,
  RoutedScans,
  RPC_MESSAGE_BYTES_MAX,
  WorkerLinks,
  type WorkerAddress,
} from '../index.js';

const PARTITION_COUNT = 4;
const KEEPALIVE_MS = 100;
const DISCONNECTED = { kind: 'unavailable', reason: 'disconnected' };
const hashesLoaded = loadHashes();

let ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.reverse()) end();
  ends = [];
});

/** A worker that knows what it leads, as the test says. */
class LeadingWorker extends ScriptedWorker {
  leads: (partition: number) => boolean = () => true;
  partitionOf: (request: PartitionRequest) => number = () => 0;
  /** What the partitions of all workers have done, by request id. */
  effects = new Map<string, number>();

  override answer = (request: PartitionRequest): PartitionAnswer | undefined => {
    if (!this.leads(this.partitionOf(request))) {
      return { kind: 'unavailable', reason: 'not-leader' };
    }
    this.effects.set(request.requestId, (this.effects.get(request.requestId) ?? 0) + 1);
    return { kind: 'submitted', isNew: true, executionTime: Number(request.requestId.slice(1)) };
  };

  override async *scan(options: ScanOptions): AsyncGenerator<InvocationSnapshot> {
    const { partition } = options;
    if (partition !== undefined && !this.leads(partition)) {
      throw new EngineError('unavailable', 'not here', { details: { reason: 'not-leader' } });
    }
    yield* super.scan(options);
  }
}

interface Member {
  readonly worker: LeadingWorker;
  readonly node: RpcNode;
  readonly line: BreakableLine;
  readonly leader: WorkerAddress;
}

async function startMember(nodeId: string): Promise<Member> {
  const hashes = await hashesLoaded;
  const worker = new LeadingWorker();
  worker.partitionOf = (request) =>
    partitionOfRequest(request, { partitionCount: PARTITION_COUNT, hashes });
  const node = await RpcNode.start(worker, { keepaliveMs: KEEPALIVE_MS });
  const line = await BreakableLine.to(node.server.port);
  ends.push(
    () => node.server.kill(),
    () => line.close(),
  );
  return { worker, node, line, leader: { nodeId, address: addressOf(line.port) } };
}

async function startRouter(
  directory: MemoryLeaderDirectory,
  more: {
    readonly leaderWaitMs?: number;
    readonly local?: ScriptedWorker;
    readonly seed?: number;
  } = {},
) {
  const { leaderWaitMs = 5_000, local, seed = 1 } = more;
  const hashes = await hashesLoaded;
  const caller = callerOf({ keepaliveMs: KEEPALIVE_MS, seed });
  const links = new WorkerLinks({ messageBytesMax: RPC_MESSAGE_BYTES_MAX }, caller);
  const parts = {
    ...caller,
    directory,
    links,
    hashes,
    local: local === undefined ? undefined : { nodeId: 'local', service: local },
  };
  const router = new PartitionRouter({ leaderWaitMs }, parts);
  ends.push(
    () => {
      links.stop();
    },
    () => {
      void router[Symbol.asyncDispose]();
    },
  );
  await router.start();
  const scans = new RoutedScans({ leaderWaitMs }, parts);
  return { router, links, scans };
}

const everywhere = (leader: WorkerAddress | undefined): (WorkerAddress | undefined)[] =>
  Array.from({ length: PARTITION_COUNT }, () => leader);

function requests(count: number, seed = 1): PartitionRequest[] {
  return sampleOf(arbitraryInvocationId, count, seed).map((invocationId, index) => ({
    kind: 'attach',
    requestId: `r${String(index)}`,
    invocationId,
    blocking: true,
  }));
}

function sendAll(
  router: PartitionRouter,
  list: readonly PartitionRequest[],
): Map<string, PartitionAnswer[]> {
  const answers = new Map<string, PartitionAnswer[]>();
  for (const request of list) {
    router.send(request, (answer) => {
      answers.set(request.requestId, [...(answers.get(request.requestId) ?? []), answer]);
    });
  }
  return answers;
}

const submitted = (index: number): PartitionAnswer => ({
  kind: 'submitted',
  isNew: true,
  executionTime: index,
});

describe('PartitionRouter', () => {
  it('asks the leader of the partition that owns the key', async () => {
    const [a, b] = [await startMember('a'), await startMember('b')];
    a.worker.leads = (partition) => partition % 2 === 0;
    b.worker.leads = (partition) => partition % 2 === 1;
    const leaders = [a.leader, b.leader, a.leader, b.leader];
    const { router } = await startRouter(new MemoryLeaderDirectory(leaders));
    const answers = sendAll(router, requests(200));
    await until('all are answered', () => answers.size === 200);
    expect([...answers.values()].flat().every(({ kind }) => kind === 'submitted')).toBe(true);
    expect(a.worker.asked.length + b.worker.asked.length).toBe(200);
    expect(a.worker.effects.size).toBe(a.worker.asked.length);
  });

  it('parks requests until there is a leader', async () => {
    const a = await startMember('a');
    const directory = new MemoryLeaderDirectory(everywhere(undefined));
    const { router } = await startRouter(directory);
    const answers = sendAll(router, requests(10));
    expect(router.parkedCount).toBe(10);
    directory.replace(everywhere(a.leader));
    await until('all are answered', () => answers.size === 10);
    expect([router.parkedCount, router.openCount]).toEqual([0, 0]);
  });

  it('gives up when there is no leader in time', async () => {
    const directory = new MemoryLeaderDirectory(everywhere(undefined));
    const { router } = await startRouter(directory, { leaderWaitMs: 50 });
    const answers = sendAll(router, requests(5));
    await until('all are answered', () => answers.size === 5);
    expect([...answers.values()].flat()).toEqual(Array(5).fill(DISCONNECTED));
    expect([router.parkedCount, router.openCount]).toEqual([0, 0]);
  });

  it('reads the table again when a worker does not lead, and asks it again until it does', async () => {
    const a = await startMember('a');
    a.worker.leads = () => false;
    let refreshes = 0;
    const directory = new MemoryLeaderDirectory(everywhere(a.leader), () => {
      refreshes += 1;
    });
    const { router } = await startRouter(directory);
    const answers = sendAll(router, requests(3));
    await until('it was asked twice', () => a.worker.asked.length > 6);
    expect(refreshes).toBeGreaterThan(0);
    a.worker.leads = () => true;
    await until('all are answered', () => answers.size === 3);
    expect([...a.worker.effects.values()]).toEqual([1, 1, 1]);
  });

  it('long waits survive a broken connection', async () => {
    const a = await startMember('a');
    const worker = a.worker as ScriptedWorker;
    worker.answer = () => undefined;
    const { router } = await startRouter(new MemoryLeaderDirectory(everywhere(a.leader)));
    const answers = sendAll(router, requests(4));
    await until('all have come', () => worker.asked.length === 4);
    a.line.cut();
    await until('all have come again', () => worker.asked.length === 8);
    for (const { respond } of worker.asked) respond({ kind: 'not-found' });
    await until('all are answered', () => answers.size === 4);
    expect([...answers.values()]).toEqual(Array(4).fill([{ kind: 'not-found' }]));
  });

  it('takes requests away from a frozen leader as soon as there is another one', async () => {
    const [a, b] = [await startMember('a'), await startMember('b')];
    (a.worker as ScriptedWorker).answer = () => undefined;
    const directory = new MemoryLeaderDirectory([a.leader, a.leader, a.leader, b.leader]);
    const { router, links } = await startRouter(directory);
    await until('open', () => links.channel(b.leader.address).isOpen);
    const list = requests(20);
    const answers = sendAll(router, list);
    await until('they have come', () => a.worker.asked.length + b.worker.asked.length === 20);
    a.line.freeze();
    directory.replace([b.leader, b.leader, b.leader, a.leader]);
    await until('all are answered', () => answers.size >= 20 - list.filter(isOfLast).length);
  });

  it('forgets who has left, parked or not', async () => {
    const a = await startMember('a');
    (a.worker as ScriptedWorker).answer = () => undefined;
    const directory = new MemoryLeaderDirectory(everywhere(undefined));
    const { router } = await startRouter(directory);
    const [first, second] = requests(2);
    const answers: PartitionAnswer[] = [];
    const parked = router.send(first!, (answer) => answers.push(answer));
    parked.withdraw();
    expect([router.parkedCount, router.openCount]).toEqual([0, 0]);
    directory.replace(everywhere(a.leader));
    const sent = router.send(second!, (answer) => answers.push(answer));
    await until('it has come', () => a.worker.asked.length === 1);
    sent.withdraw();
    sent.withdraw();
    expect(router.openCount).toBe(0);
    await until('the worker knows', () => a.worker.asked[0]?.isWithdrawn === true);
    expect(answers).toEqual([]);
  });

  it('calls the worker of its own process', async () => {
    const local = new ScriptedWorker();
    local.answer = () => ({ kind: 'not-ready' });
    const leader = { nodeId: 'local', address: 'nowhere:1' };
    const { router } = await startRouter(new MemoryLeaderDirectory(everywhere(leader)), { local });
    const answers = sendAll(router, requests(2));
    await until('answered', () => answers.size === 2);
    expect(local.asked).toHaveLength(2);
  });

  it('answers everybody when it stops', async () => {
    const a = await startMember('a');
    (a.worker as ScriptedWorker).answer = () => undefined;
    const directory = new MemoryLeaderDirectory([undefined, ...everywhere(a.leader).slice(1)]);
    const { router } = await startRouter(directory);
    const list = requests(12);
    const answers = sendAll(router, list);
    await until('some have come', () => a.worker.asked.length > 0);
    await router[Symbol.asyncDispose]();
    expect(answers.size).toBe(12);
    const late = sendAll(router, list.slice(0, 1));
    await until('a late one is answered', () => late.size === 1);
    expect([...answers.values(), ...late.values()].flat()).toEqual(Array(13).fill(DISCONNECTED));
  });

  it('answers each request once, whatever breaks and moves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
        await survive(seed);
      }),
      { numRuns: 5 },
    );
  }, 60_000);
});

function isOfLast(request: PartitionRequest): boolean {
  if (request.kind !== 'attach') return false;
  return partitionOfInvocation(request.invocationId, PARTITION_COUNT) === PARTITION_COUNT - 1;
}

/** A random story: requests in small groups, and between them cuts, moves, and workers that learn late what they lead. */
async function survive(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const members = [await startMember('a'), await startMember('b')];
  const below = (count: number): number => Math.floor(random.float() * count);
  const pick = (): Member => members[below(2)]!;
  const leads = everywhere(members[0]!.leader);
  const directory = new MemoryLeaderDirectory(leads);
  for (const { worker, leader } of members) {
    worker.leads = (partition) => leads[partition] === leader;
  }
  const { router } = await startRouter(directory, { seed });
  const list = requests(400, seed);
  const answers = new Map<string, PartitionAnswer[]>();
  for (let from = 0; from < list.length; from += 20) {
    for (const [id, got] of sendAllInto(router, list.slice(from, from + 20), answers)) {
      answers.set(id, got);
    }
    const partition = below(PARTITION_COUNT);
    switch (below(4)) {
      case 0:
        pick().line.cut();
        break;
      case 1:
        leads[partition] = pick().leader;
        setImmediate(() => {
          directory.replace(leads);
        });
        break;
      case 2:
        directory.replace(everywhere(undefined));
        setTimeout(() => {
          directory.replace(leads);
        }, below(20));
        break;
      default:
        await new Promise((resolve) => setTimeout(resolve, below(10)));
    }
  }
  directory.replace(leads);
  await until('all are answered', () => answers.size === list.length);
  for (const [index, { requestId }] of list.entries()) {
    expect(answers.get(requestId)).toEqual([submitted(index)]);
  }
  expect([router.parkedCount, router.openCount]).toEqual([0, 0]);
}

function sendAllInto(
  router: PartitionRouter,
  list: readonly PartitionRequest[],
  answers: Map<string, PartitionAnswer[]>,
): Map<string, PartitionAnswer[]> {
  for (const request of list) {
    router.send(request, (answer) => {
      answers.set(request.requestId, [...(answers.get(request.requestId) ?? []), answer]);
    });
  }
  return answers;
}

describe('RoutedScans', () => {
  const snapshots = sampleOf(arbitrarySnapshot, 60);

  async function scanWorld() {
    const members = [await startMember('a'), await startMember('b')];
    for (const [index, { worker }] of members.entries()) {
      worker.leads = (partition) => partition % 2 === index;
      const own = snapshots.filter(({ id }) => worker.leads(partitionOf(id)));
      const scan = worker.scan.bind(worker);
      worker.scan = (options) => {
        const { partition, ids } = options;
        worker.invocations = own.filter(
          ({ id }) => ids !== undefined || partitionOf(id) === partition,
        );
        return scan(options);
      };
    }
    const [a, b] = members.map(({ leader }) => leader);
    const directory = new MemoryLeaderDirectory([a, b, a, b]);
    return { members, directory, ...(await startRouter(directory)) };
  }
  const partitionOf = (id: InvocationId): number => partitionOfInvocation(id, PARTITION_COUNT);
  const inOrder = [...snapshots].sort((x, y) => partitionOf(x.id) - partitionOf(y.id));

  it('gathers partition by partition, and goes on behind a row', async () => {
    const { scans } = await scanWorld();
    expect(await all(scans.scan({ limit: 1_000 }))).toEqual(inOrder);
    expect(await all(scans.scan({ limit: 10 }))).toEqual(inOrder.slice(0, 10));
    const after = inOrder[29]!.id;
    expect(await all(scans.scan({ limit: 100, after }))).toEqual(inOrder.slice(30));
  });

  it('gives rows by id in the order of the ids', async () => {
    const { scans } = await scanWorld();
    const ids = snapshots.map(({ id }) => id);
    expect(await all(scans.scan({ ids, limit: 100 }))).toEqual(snapshots);
  });

  it('waits for a partition that has no leader, and fails when none comes', async () => {
    const { members, directory, scans } = await scanWorld();
    const [a, b] = members.map(({ leader }) => leader);
    directory.replace([a, undefined, a, b]);
    const rows = all(scans.scan({ limit: 1_000 }));
    setTimeout(() => {
      directory.replace([a, b, a, b]);
    }, 60);
    expect(await rows).toEqual(inOrder);
    const { scans: hasty } = await startRouter(new MemoryLeaderDirectory(everywhere(undefined)), {
      leaderWaitMs: 20,
    });
    await expect(all(hasty.scan({ limit: 1 }))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('partition 0 has no leader that can be reached'),
    });
  });
});

describe('awaitTable', () => {
  const leader = { nodeId: 'a', address: 'nowhere:1' };

  it('is ready once every partition has had a leader, and stays so', () => {
    const readiness = new Readiness();
    const directory = new MemoryLeaderDirectory([leader, undefined]);
    awaitTable(directory, readiness);
    expect([...readiness.missing.keys()]).toEqual(['partition table']);
    directory.replace([leader, leader]);
    expect(readiness.isReady).toBe(true);
    directory.replace([leader, undefined]);
    expect(readiness.isReady).toBe(true);
  });

  it('is ready at once when the table is complete already', () => {
    const readiness = new Readiness();
    awaitTable(new MemoryLeaderDirectory([leader]), readiness);
    expect(readiness.isReady).toBe(true);
  });
});

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const list: Row[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

describe('RoutedPeer', () => {
  it('brings messages to the leader, and acknowledgements back to the sender', async () => {
    const a = await startMember('a');
    const near = new ScriptedWorker();
    const local = { nodeId: 'near', address: 'nowhere:1' };
    const directory = new MemoryLeaderDirectory([local, a.leader, local, undefined]);
    const { links } = await startRouter(directory);
    const returned: MessageAck[] = [];
    const peer = new RoutedPeer({
      directory,
      links,
      nodeId: 'near',
      local: () => near,
      acks: { acknowledge: (ack) => returned.push(ack) },
    });
    const [p0, p1, p2, p3] = [0, 1, 2, 3].map(toPartitionId) as [never, never, never, never];
    const messages = [{ kind: 'kill', invocationId: 'inv_1' as InvocationId }] as const;
    peer.deliver({ sender: p0, destination: p2, first: 1, messages });
    peer.deliver({ sender: p0, destination: p3, first: 1, messages });
    await peer.start();
    ends.push(() => {
      void peer[Symbol.asyncDispose]();
    });
    await until('open', () => links.peer(a.leader.address).isOpen);
    peer.deliver({ sender: p0, destination: p1, first: 1, messages });
    await until('it has come', () => a.worker.batches.length === 1);
    expect(near.batches).toHaveLength(1);
    a.node.acks.acknowledge({ sender: p0, destination: p1, upTo: 1 });
    await until('it is back', () => near.acks.length === 1);
    peer.acknowledge({ sender: p2, destination: p0, upTo: 5 });
    peer.acknowledge({ sender: p1, destination: p0, upTo: 6 });
    expect(near.acks.map(({ upTo }) => upTo)).toEqual([1, 5]);
    expect(returned.map(({ upTo }) => upTo)).toEqual([6]);
  });
});
