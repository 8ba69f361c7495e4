/** An ingress before workers in "other processes": real streams to partitions that keep their decisions, whoever leads them. */

import {
  loadHashes,
  type InvocationId,
  type PartitionAnswer,
  type PartitionRequest,
} from '@engine/domain';
import {
  MemoryLeaderDirectory,
  PartitionRouter,
  RPC_MESSAGE_BYTES_MAX,
  WorkerLinks,
} from '@engine/rpc';
import { addressOf, BreakableLine, callerOf, RpcNode, ScriptedWorker } from '@engine/rpc/contract';

import { startIngress, success, type TestIngress } from '../src/test-fixture.js';

const PARTITION_COUNT = 4;
const KEEPALIVE_MS = 100;

/** What the logs of all partitions say: it outlives every leader. */
export class Decided {
  readonly invocations = new Map<
    InvocationId,
    { readonly requestId: string; result?: PartitionAnswer }
  >();
  /** First completion of each signal. */
  readonly signals = new Map<string, string>();
  /** Request id of everything that had an effect, in order. */
  readonly effects: string[] = [];

  /** Undefined: the answer comes with the end of the invocation. */
  decide(request: PartitionRequest): PartitionAnswer | undefined {
    const { requestId } = request;
    switch (request.kind) {
      case 'invoke': {
        const { id } = request.invocation;
        let row = this.invocations.get(id);
        if (row === undefined) {
          this.effects.push(requestId);
          row = { requestId };
          this.invocations.set(id, row);
        }
        if (request.awaits === 'result') return row.result;
        const isNew = row.requestId === requestId;
        return { kind: 'submitted', isNew, executionTime: undefined };
      }
      case 'attach': {
        const row = this.invocations.get(request.invocationId);
        if (row === undefined) return { kind: 'not-found' };
        return row.result ?? (request.blocking ? undefined : { kind: 'not-ready' });
      }
      case 'signal': {
        const key = `${request.invocationId} ${JSON.stringify(request.id)}`;
        if (!this.signals.has(key)) {
          this.effects.push(requestId);
          this.signals.set(key, requestId);
        }
        return { kind: 'operation', outcome: 'done' };
      }
      default:
        throw new Error(`an ingress does not ask for '${request.kind}'`);
    }
  }
}

/** Leads all partitions or none. */
export class Member extends ScriptedWorker {
  readonly decided: Decided;
  isLeader = false;
  /** Decides, and tells nobody. */
  isMute = false;
  /** Takes no more requests. */
  isFull = false;

  constructor(decided: Decided) {
    super();
    this.decided = decided;
  }

  override answer = (request: PartitionRequest): PartitionAnswer | undefined => {
    if (!this.isLeader) return { kind: 'unavailable', reason: 'not-leader' };
    if (this.isFull) return { kind: 'unavailable', reason: 'overloaded' };
    const answer = this.decided.decide(request);
    return this.isMute ? undefined : answer;
  };

  /** Requests that wait for the end of an invocation learn of it. */
  tellEnds(): void {
    if (!this.isLeader || this.isMute) return;
    for (const { request, respond } of this.asked) {
      const answer = this.decided.decide(request);
      if (answer?.kind === 'result') respond(answer);
    }
  }

  stepDown(): void {
    this.isLeader = false;
    for (const { respond } of this.asked) respond({ kind: 'unavailable', reason: 'stopping' });
  }
}

export interface Place {
  readonly member: Member;
  readonly node: RpcNode;
  readonly line: BreakableLine;
  readonly leader: { readonly nodeId: string; readonly address: string };
}

export class TestCluster implements AsyncDisposable {
  readonly decided: Decided;
  readonly first: Place;
  readonly second: Place;
  readonly router: PartitionRouter;
  readonly ingress: TestIngress;
  readonly #directory: MemoryLeaderDirectory;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    parts: AsyncDisposableStack,
    made: Pick<TestCluster, 'decided' | 'first' | 'second' | 'router' | 'ingress'>,
    directory: MemoryLeaderDirectory,
  ) {
    this.decided = made.decided;
    this.first = made.first;
    this.second = made.second;
    this.router = made.router;
    this.ingress = made.ingress;
    this.#directory = directory;
    this.#parts = parts;
  }

  /** Nobody leads yet. */
  static async start(leaderWaitMs: number): Promise<TestCluster> {
    const parts = new AsyncDisposableStack();
    const decided = new Decided();
    const [first, second] = [
      await startPlace('first', decided, parts),
      await startPlace('second', decided, parts),
    ];
    const directory = new MemoryLeaderDirectory(everywhere(undefined));
    const caller = callerOf({ keepaliveMs: KEEPALIVE_MS });
    const links = new WorkerLinks({ messageBytesMax: RPC_MESSAGE_BYTES_MAX }, caller);
    parts.defer(() => {
      links.stop();
    });
    const router = parts.use(
      new PartitionRouter(
        { leaderWaitMs },
        { ...caller, directory, links, hashes: await loadHashes() },
      ),
    );
    await router.start();
    const ingress = parts.use(await startIngress({}, { channel: router }));
    return new TestCluster(parts, { decided, first, second, router, ingress }, directory);
  }

  /** From now on this one leads, and the table says so. */
  lead({ member, leader }: Place): void {
    for (const place of [this.first, this.second]) place.member.isLeader = place.member === member;
    this.#directory.replace(everywhere(leader));
  }

  /** The table names nobody. */
  leadNobody(): void {
    this.#directory.replace(everywhere(undefined));
  }

  /** The invocation ends; whoever leads tells who waits. */
  end(id: InvocationId, value: string): void {
    const row = this.decided.invocations.get(id);
    if (row === undefined) throw new Error(`there is no invocation ${id}`);
    row.result = success(value);
    for (const { member } of [this.first, this.second]) member.tellEnds();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

async function startPlace(
  nodeId: string,
  decided: Decided,
  parts: AsyncDisposableStack,
): Promise<Place> {
  const member = new Member(decided);
  const node = await RpcNode.start(member, { keepaliveMs: KEEPALIVE_MS });
  const line = await BreakableLine.to(node.server.port);
  parts.defer(() => {
    line.close();
    node.server.kill();
  });
  return { member, node, line, leader: { nodeId, address: addressOf(line.port) } };
}

function everywhere<T>(leader: T): T[] {
  return Array.from({ length: PARTITION_COUNT }, () => leader);
}
