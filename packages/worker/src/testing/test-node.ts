/** One worker process of a hosting world. Its disk outlives it. */

import {
  EngineError,
  type Hashes,
  type NodeId,
  type PartitionId,
  type PartitionTable,
  type SchemaLookup,
} from '@engine/domain';
import type { SharedLog } from '@engine/log';
import type { LeaseState } from '@engine/metadata';
import type { Random } from '@engine/runtime';
import type { NodeControl, NodePeers, PartitionPeer } from '@engine/wire';

import { workerOptions } from '../config-shape.js';
import { Hosting } from '../hosting/hosting.js';
import type { DeploymentTransport } from '../invoker/deployment-transport.js';
import { Worker } from '../service.js';
import { MemoryReplicas, type StoredReplica } from './memory-replicas.js';
import { ProcessTime } from './process-time.js';
import type { ScriptedDeployment, SdkStream } from './scripted-deployment.js';
import type { VirtualTime } from './virtual-time.js';

/** TTL of leases in a hosting world. */
export const TTL_MS = 15_000;

/** What the nodes of a test share. */
export interface NodeSurroundings {
  readonly time: VirtualTime;
  readonly deployment: ScriptedDeployment;
  readonly nodes: ReadonlyMap<NodeId, TestNode>;
  readonly snapshots: ReadonlyMap<PartitionId, StoredReplica>;
  readonly schema: SchemaLookup;
  readonly hashes: Hashes;
  readonly random: Random;
  readonly partitionCount: number;
  readonly table: PartitionTable;
  log(partition: PartitionId): SharedLog;
  leaderOf(partition: PartitionId): TestNode | undefined;
}

export class TestNode {
  readonly id: NodeId;
  readonly disk: MemoryReplicas;
  readonly fatal: unknown[] = [];
  /** Attempts of this process and those before it. */
  readonly streams: SdkStream[] = [];
  readonly #world: NodeSurroundings;
  /** Counts the lives of the process. */
  life = 0;
  time: ProcessTime;
  worker: Worker;
  hosting: Hosting;
  /** How this node sees a log that it opens. */
  logOf: (log: SharedLog) => SharedLog = (log) => log;
  /** As the holder of the lease sees it. */
  isLeaseHeld = true;
  #isUp = false;
  #isCut = false;

  constructor(id: NodeId, world: NodeSurroundings) {
    this.id = id;
    this.#world = world;
    this.disk = new MemoryReplicas(world.snapshots);
    this.time = new ProcessTime(world.time);
    this.worker = this.#makeWorker();
    this.hosting = this.#makeHosting();
  }

  /** True when other processes can ask it something. */
  get isReachable(): boolean {
    return this.#isUp && !this.#isCut && !this.time.isFrozen;
  }

  async start(): Promise<void> {
    this.life += 1;
    this.#isUp = true;
    await this.hosting.start();
    this.readTable();
    this.hosting.lease('held');
  }

  /** The process ends without a word. */
  kill(): void {
    this.#isUp = false;
    this.life += 1;
    this.worker.kill();
    void this.hosting[Symbol.asyncDispose]();
  }

  /** A killed process starts again with the same disk. */
  async restart(): Promise<void> {
    if (this.#isUp) this.kill();
    this.time = new ProcessTime(this.#world.time);
    this.worker = this.#makeWorker();
    this.hosting = this.#makeHosting();
    await this.start();
  }

  /** Neither the table nor other nodes reach it; the log and deployments do. */
  cut(): void {
    this.#isCut = true;
  }

  heal(): void {
    this.#isCut = false;
    this.readTable();
  }

  readTable(): void {
    if (this.isReachable) this.hosting.assigned(this.#world.table);
  }

  lease(state: LeaseState): void {
    this.isLeaseHeld = state === 'held';
    this.hosting.lease(state);
  }

  get control(): NodeControl {
    const reachable = async (): Promise<Hosting> => {
      if (!this.isReachable) throw new EngineError('unavailable', 'the node cannot be reached');
      return Promise.resolve(this.hosting);
    };
    return {
      reports: async () => (await reachable()).reports(),
      stopLeading: async (partition, epoch) => (await reachable()).stopLeading(partition, epoch),
      applied: async (partition) => (await reachable()).applied(partition),
    };
  }

  #makeWorker(): Worker {
    const { schema, hashes, random, partitionCount } = this.#world;
    const settings = { partitionCount, clusterName: 'test' };
    return new Worker(workerOptions(settings), {
      clock: this.time,
      scheduler: this.time,
      random,
      hashes,
      schema: () => schema,
      transport: this.#transport(this.time),
      peer: this.#peer(),
      onFatal: (error) => {
        this.fatal.push(error);
      },
    });
  }

  #makeHosting(): Hosting {
    const world = this.#world;
    return new Hosting(
      { node: this.id, handoverPatienceMs: TTL_MS },
      {
        worker: this.worker,
        openLog: (partition) => Promise.resolve(this.logOf(world.log(partition))),
        stores: this.disk,
        peers: this.#peers(),
        clock: this.time,
        scheduler: this.time,
        isLeaseHeld: () => this.isLeaseHeld,
      },
    );
  }

  #peers(): NodePeers {
    const { nodes } = this.#world;
    const others = (): NodeId[] => [...nodes.keys()].filter((id) => id !== this.id);
    return {
      get workers() {
        return others();
      },
      control: (node) => (this.isReachable ? nodes.get(node)?.control : undefined),
    };
  }

  #peer(): PartitionPeer {
    const world = this.#world;
    return {
      deliver: (batch) => {
        const leader = world.leaderOf(batch.destination);
        if (leader?.isReachable === true) leader.worker.deliver(batch);
      },
      acknowledge: (ack) => {
        const leader = world.leaderOf(ack.sender);
        if (leader?.isReachable === true) leader.worker.acknowledge(ack);
      },
    };
  }

  /** What comes from deployments waits while the process is frozen. */
  #transport(time: ProcessTime): DeploymentTransport {
    const { deployment } = this.#world;
    return {
      open: (request, listener) => {
        const stream = deployment.open(request, {
          onHead: time.whenAwake((status, headers) => {
            listener.onHead(status, headers);
          }),
          onData: time.whenAwake((chunk) => {
            listener.onData(chunk);
          }),
          onEnd: time.whenAwake(() => {
            listener.onEnd();
          }),
          onError: time.whenAwake((message) => {
            listener.onError(message);
          }),
        });
        this.streams.push(stream);
        return stream;
      },
    };
  }
}
