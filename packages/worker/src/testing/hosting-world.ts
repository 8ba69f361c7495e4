/** A cluster of workers on virtual time: one log per partition in memory, a disk for each node, and a table that the test writes. */

import {
  loadHashes,
  parseNodeId,
  partitionOfRequest,
  toPartitionId,
  type Hashes,
  type NodeId,
  type PartitionAssignment,
  type PartitionId,
  type PartitionRequest,
  type PartitionTable,
  type SchemaLookup,
} from '@engine/domain';
import { MemoryLogHistory, MemorySharedLog, type SharedLog } from '@engine/log';
import { seededRandom } from '@engine/runtime';
import { assert } from '@engine/stdx';

import { copyOf, type StoredReplica } from './memory-replicas.js';
import { Asked, RequestMaker } from './request-maker.js';
import { ScriptedDeployment } from './scripted-deployment.js';
import { TestNode, type NodeSurroundings } from './test-node.js';
import { VirtualTime } from './virtual-time.js';

/** Between two tries of the router. */
const RESEND_MS = 50;

export interface HostingWorldOptions {
  readonly schema: SchemaLookup;
  readonly nodes: readonly string[];
  readonly partitionCount?: number;
}

/** What a test names anew of a partition. */
export interface Naming {
  readonly leader: string;
  readonly standbys?: readonly string[];
  readonly predecessors?: readonly string[];
  readonly epoch?: bigint;
}

export class HostingWorld implements NodeSurroundings {
  readonly time = new VirtualTime();
  readonly deployment = new ScriptedDeployment(this.time);
  readonly nodes = new Map<NodeId, TestNode>();
  readonly histories: readonly MemoryLogHistory[];
  readonly snapshots = new Map<PartitionId, StoredReplica>();
  readonly schema: SchemaLookup;
  readonly hashes: Hashes;
  readonly random = seededRandom(1);
  readonly #maker: RequestMaker;
  #table: PartitionTable;

  private constructor({ schema, nodes, partitionCount = 1 }: HostingWorldOptions, hashes: Hashes) {
    this.schema = schema;
    this.hashes = hashes;
    const { random, time } = this;
    this.#maker = new RequestMaker({ schema: () => schema, hashes, random, clock: time });
    this.histories = Array.from({ length: partitionCount }, () => new MemoryLogHistory());
    const unnamed = { leader: undefined, epoch: 0n, standbys: [], predecessors: [] };
    this.#table = { version: 1, partitions: this.histories.map(() => unnamed) };
    for (const name of nodes) this.nodes.set(nodeId(name), new TestNode(nodeId(name), this));
  }

  static async start(options: HostingWorldOptions): Promise<HostingWorld> {
    const world = new HostingWorld(options, await loadHashes());
    for (const node of world.nodes.values()) await node.start();
    await world.time.settle();
    return world;
  }

  get partitionCount(): number {
    return this.histories.length;
  }

  get table(): PartitionTable {
    return this.#table;
  }

  partition(id: number): PartitionId {
    return toPartitionId(id);
  }

  node(name: string): TestNode {
    const node = this.nodes.get(nodeId(name));
    assert(node !== undefined, 'the node belongs to the world');
    return node;
  }

  /** Writes the table as a controller would, and lets every node that can hear it know. */
  name(partition: number, { leader, standbys = [], predecessors = [], epoch }: Naming): void {
    const before = this.#table.partitions[partition];
    const assignment: PartitionAssignment = {
      leader: nodeId(leader),
      epoch: epoch ?? (before?.epoch ?? 0n) + 1n,
      standbys: standbys.map(nodeId),
      predecessors: predecessors.map(nodeId),
    };
    const partitions = this.#table.partitions.with(partition, assignment);
    this.#table = { version: this.#table.version + 1, partitions };
    for (const node of this.nodes.values()) node.readTable();
  }

  log(partition: PartitionId): SharedLog {
    const history = this.histories[partition];
    assert(history !== undefined, 'the partition exists');
    return new MemorySharedLog({ history, checksum: this.hashes.xxh3 });
  }

  /** Keeps a snapshot of what a node has. */
  async snapshot(name: string, partition: number): Promise<void> {
    const id = toPartitionId(partition);
    this.snapshots.set(id, await copyOf(this.node(name).disk.stored(id)));
  }

  /** Asks the leader of the table until it answers, as the router of ingress does. */
  invoke(target: string, payload = '', awaits: 'submission' | 'result' = 'result'): Asked {
    return this.send((requestId) => ({
      kind: 'invoke',
      requestId,
      invocation: this.#maker.invocation(target, payload),
      awaits,
    }));
  }

  send(make: (requestId: string) => PartitionRequest): Asked {
    const asked = new Asked(make(this.#maker.nextId()));
    this.#route(asked);
    return asked;
  }

  /** The leader of a partition, as the table says. */
  leaderOf(partition: PartitionId): TestNode | undefined {
    const leader = this.#table.partitions[partition]?.leader;
    return leader === undefined ? undefined : this.nodes.get(leader);
  }

  #route(asked: Asked): void {
    const { partitionCount, hashes } = this;
    const partition = partitionOfRequest(asked.request, { partitionCount, hashes });
    const leader = this.leaderOf(partition);
    const again = (): void => {
      this.time.after(RESEND_MS, () => {
        if (asked.answers.length === 0) this.#route(asked);
      });
    };
    if (leader?.isReachable !== true) {
      again();
      return;
    }
    const life = leader.life;
    let isSettled = false;
    leader.worker.send(asked.request, (answer) => {
      isSettled = true;
      if (answer.kind === 'unavailable') again();
      else asked.answers.push(answer);
    });
    // The table moves it, or its worker is gone: it is asked of the next leader.
    const watch = (): void => {
      if (isSettled || asked.answers.length > 0) return;
      const hasMoved = this.leaderOf(partition) !== leader || leader.life !== life;
      if (hasMoved) this.#route(asked);
      else this.time.after(RESEND_MS, watch);
    };
    this.time.after(RESEND_MS, watch);
  }
}

function nodeId(name: string): NodeId {
  const id = parseNodeId(name);
  assert(id !== undefined, 'names of nodes in tests are node ids');
  return id;
}
