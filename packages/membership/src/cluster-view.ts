/**
 * The documents that every process of a cluster goes by: the partition table, the nodes, and the cluster's own. Changes of the table are
 * told by a watch, those of the nodes by a list that is read now and then, and both at once when somebody asks.
 */

import type { ClusterConfiguration, ClusterNode, NodeId, PartitionTable } from '@engine/domain';
import {
  CLUSTER_DOCUMENT,
  decodeCluster,
  decodeNode,
  decodePartitionTable,
  NODE_DOCUMENT_PREFIX,
  PARTITION_TABLE_DOCUMENT,
  type MetadataEntry,
  type MetadataStore,
} from '@engine/metadata';
import type { Cancellable, Scheduler, Service } from '@engine/runtime';

import { documentUnreadable, readFailed } from './events.js';
import { Listeners } from './listeners.js';

/** A node that nobody asked for is known after so long. */
const NODES_INTERVAL_MS = 2_000;

export interface ClusterViewDependencies {
  readonly store: MetadataStore;
  readonly scheduler: Scheduler;
}

export class ClusterView implements Service {
  readonly #store: MetadataStore;
  readonly #scheduler: Scheduler;
  readonly #tables = new Listeners<PartitionTable>();
  readonly #nodeChanges = new Listeners<readonly ClusterNode[]>();
  readonly #clusters = new Listeners<ClusterConfiguration>();
  readonly #watches: Disposable[] = [];
  #table: { readonly table: PartitionTable; readonly version: bigint } | undefined;
  #cluster: { readonly cluster: ClusterConfiguration; readonly version: bigint } | undefined;
  /** By document name; with the version at which it was read. */
  readonly #known = new Map<string, { readonly node: ClusterNode; readonly version: bigint }>();
  #nodes: readonly ClusterNode[] = [];
  /** Documents that cannot be read, at which version: told once. */
  readonly #unreadable = new Map<string, bigint>();
  #timer: Cancellable | undefined;
  #refreshing: Promise<void> | undefined;
  #isStopped = false;

  constructor({ store, scheduler }: ClusterViewDependencies) {
    this.#store = store;
    this.#scheduler = scheduler;
  }

  /** The newest that is known; undefined until the controller has written the first. */
  get table(): PartitionTable | undefined {
    return this.#table?.table;
  }

  /** By id, living or not. A new list for every change. */
  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  get cluster(): ClusterConfiguration | undefined {
    return this.#cluster?.cluster;
  }

  node(id: NodeId): ClusterNode | undefined {
    return this.#nodes.find((node) => node.id === id);
  }

  /** Calls `listener` with each newer table; not with the one that is known already. */
  onTable(listener: (table: PartitionTable) => void): Disposable {
    return this.#tables.add(listener);
  }

  /** Calls `listener` after each change of a document of a node, with all of them. */
  onNodes(listener: (nodes: readonly ClusterNode[]) => void): Disposable {
    return this.#nodeChanges.add(listener);
  }

  /** Calls `listener` after each change of the cluster document, such as a raised format. */
  onCluster(listener: (cluster: ClusterConfiguration) => void): Disposable {
    return this.#clusters.add(listener);
  }

  /** Reads everything once. Rejects with EngineError `unavailable` when the store cannot be reached. */
  async start(): Promise<void> {
    await Promise.all([this.readTable(), this.#readNodes(), this.readCluster()]);
    this.#watches.push(
      this.#store.watch(PARTITION_TABLE_DOCUMENT, (entry) => {
        this.#onTableEntry(entry);
      }),
      this.#store.watch(CLUSTER_DOCUMENT, (entry) => {
        this.#onClusterEntry(entry);
      }),
    );
    this.#later();
  }

  /** Reads the table as it is now. Rejects with EngineError `unavailable` when the store cannot be reached. */
  async readTable(): Promise<void> {
    const entry = await this.#store.get(PARTITION_TABLE_DOCUMENT);
    if (entry !== undefined) this.#onTableEntry(entry);
  }

  /** Reads the cluster document as it is now. Rejects with EngineError `unavailable` when the store cannot be reached. */
  async readCluster(): Promise<void> {
    const entry = await this.#store.get(CLUSTER_DOCUMENT);
    if (entry !== undefined) this.#onClusterEntry(entry);
  }

  /** Reads table and nodes soon; never rejects. Askers of one moment share one reading. */
  refresh(): Promise<void> {
    this.#refreshing ??= Promise.all([this.readTable(), this.#readNodes()])
      .then(() => undefined, readFailed)
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const watch of this.#watches) watch[Symbol.dispose]();
    return Promise.resolve();
  }

  #later(): void {
    if (this.#isStopped) return;
    this.#timer = this.#scheduler.after(NODES_INTERVAL_MS, () => {
      void this.#readNodes()
        .catch(readFailed)
        .finally(() => {
          this.#later();
        });
    });
  }

  async #readNodes(): Promise<void> {
    const entries = await this.#store.list(NODE_DOCUMENT_PREFIX);
    if (this.#isStopped) return;
    let hasChanged = false;
    for (const { name, version, value } of entries) {
      if ((this.#known.get(name)?.version ?? 0n) >= version) continue;
      const node = this.#read(name, { version, value }, decodeNode);
      if (node === undefined) continue;
      this.#known.set(name, { node, version });
      hasChanged = true;
    }
    if (!hasChanged) return;
    this.#nodes = [...this.#known.values()]
      .map(({ node }) => node)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#nodeChanges.tell(this.#nodes);
  }

  #onTableEntry(entry: MetadataEntry): void {
    if (this.#isStopped || (this.#table?.version ?? 0n) >= entry.version) return;
    const table = this.#read(PARTITION_TABLE_DOCUMENT, entry, decodePartitionTable);
    if (table === undefined) return;
    this.#table = { table, version: entry.version };
    this.#tables.tell(table);
    if (this.#namesStrangers(table)) void this.refresh();
  }

  #onClusterEntry(entry: MetadataEntry): void {
    if (this.#isStopped || (this.#cluster?.version ?? 0n) >= entry.version) return;
    const cluster = this.#read(CLUSTER_DOCUMENT, entry, decodeCluster);
    if (cluster === undefined) return;
    this.#cluster = { cluster, version: entry.version };
    this.#clusters.tell(cluster);
  }

  #namesStrangers({ partitions }: PartitionTable): boolean {
    return partitions.some(({ leader }) => leader !== undefined && this.node(leader) === undefined);
  }

  /** Undefined: a newer server wrote it, or it is damaged; the last good one stays in force. */
  #read<T>(name: string, entry: MetadataEntry, decode: (bytes: Uint8Array) => T): T | undefined {
    try {
      return decode(entry.value);
    } catch (error) {
      if (this.#unreadable.get(name) !== entry.version) documentUnreadable(name, error);
      this.#unreadable.set(name, entry.version);
      return undefined;
    }
  }
}
