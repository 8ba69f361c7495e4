/** Nodes of a cluster over one store in memory, each with its own way to it. */

import {
  parseNodeId,
  type ClusterNode,
  type EngineError,
  type NodeId,
  type PartitionTable,
} from '@engine/domain';
import {
  buryLease,
  decodeLease,
  decodeNode,
  encodePartitionTable,
  LEASE_PREFIX,
  MemoryMetadataStore,
  nodeDocument,
  nodeLease,
  PARTITION_TABLE_DOCUMENT,
  type LeaseDocument,
  type MetadataStore,
} from '@engine/metadata';

import { FaultyMetadataStore } from './faulty-metadata-store.js';
import { VirtualTime } from './virtual-time.js';
import { ClusterView } from '../src/cluster-view.js';
import { Member, type MemberOptions } from '../src/member.js';

export const TTL_MS = 15_000;

export function nodeId(text: string): NodeId {
  const id = parseNodeId(text);
  if (id === undefined) throw new Error(`no node id: ${text}`);
  return id;
}

/** A table of the leaders given, by partition. */
export function tableOf(version: number, leaders: readonly string[]): PartitionTable {
  return {
    version,
    partitions: leaders.map((leader) => ({
      leader: nodeId(leader),
      epoch: BigInt(version),
      standbys: [],
      predecessors: [],
    })),
  };
}

/** One process: its member, its view, and what was told in which order. */
export class BenchNode {
  readonly store: FaultyMetadataStore;
  readonly view: ClusterView;
  readonly member: Member;
  readonly told: string[] = [];
  readonly fatal: EngineError[] = [];
  hasLetGo = true;

  constructor(
    options: Partial<MemberOptions> & { readonly id: NodeId },
    store: MetadataStore,
    time: VirtualTime,
  ) {
    this.store = new FaultyMetadataStore(store);
    this.view = new ClusterView({ store: this.store, scheduler: time });
    const { id } = options;
    this.member = new Member(
      {
        roles: ['worker'],
        zone: undefined,
        binaryVersion: '0.1.0',
        formats: { min: 1, max: 1 },
        leaseTtlMs: TTL_MS,
        ...options,
      },
      {
        store: this.store,
        view: this.view,
        clock: time,
        scheduler: time,
        addresses: () => ({ internal: `${id}:5122`, ingress: undefined, admin: undefined }),
        hasLetGo: () => this.hasLetGo,
        onFatal: (error) => this.fatal.push(error),
      },
    );
    this.view.onTable(({ version }) => this.told.push(`table ${String(version)}`));
    this.member.onLease((state) => this.told.push(state));
  }

  async start(): Promise<void> {
    await this.view.start();
    await this.member.start();
  }

  async dispose(): Promise<void> {
    await this.member[Symbol.asyncDispose]();
    await this.view[Symbol.asyncDispose]();
  }
}

export class MemberBench {
  readonly time = new VirtualTime();
  readonly store = new MemoryMetadataStore();

  make(id: string, options: Partial<MemberOptions> = {}): BenchNode {
    return new BenchNode({ ...options, id: nodeId(id) }, this.store, this.time);
  }

  async start(id: string, options: Partial<MemberOptions> = {}): Promise<BenchNode> {
    const node = this.make(id, options);
    await this.time.until(node.start());
    return node;
  }

  async writeTable(table: PartitionTable): Promise<void> {
    const version = (await this.store.get(PARTITION_TABLE_DOCUMENT))?.version ?? 'absent';
    await this.store.put(PARTITION_TABLE_DOCUMENT, encodePartitionTable(table), version);
  }

  async lease(id: string): Promise<LeaseDocument & { readonly version: bigint }> {
    const entry = await this.store.get(LEASE_PREFIX + nodeLease(nodeId(id)));
    if (entry === undefined) throw new Error(`${id} has no lease`);
    return { ...decodeLease(entry.value), version: entry.version };
  }

  async document(id: string): Promise<ClusterNode> {
    const entry = await this.store.get(nodeDocument(nodeId(id)));
    if (entry === undefined) throw new Error(`${id} is not registered`);
    return decodeNode(entry.value);
  }

  async bury(id: string): Promise<void> {
    const { version } = await this.lease(id);
    const isBuried = await buryLease(this.store, { name: nodeLease(nodeId(id)), version });
    if (!isBuried) throw new Error(`${id} was renewed meanwhile`);
  }
}
