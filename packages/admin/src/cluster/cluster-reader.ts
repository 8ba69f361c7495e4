/** Reads the documents and leases by which a controller decides, and says what is new in them. */

import { parseNodeId, type ClusterNode, type NodeId } from '@engine/domain';
import type { ControllerInput } from '@engine/cluster';
import {
  CONTROLLER_LEASE,
  decodeLease,
  decodeNode,
  decodePartitionTable,
  decodePlacementOrders,
  LEASE_PREFIX,
  NODE_DOCUMENT_PREFIX,
  NODE_LEASE_PREFIX,
  PARTITION_TABLE_DOCUMENT,
  PLACEMENT_ORDERS_DOCUMENT,
  type MetadataEntry,
  type MetadataStore,
} from '@engine/metadata';

import { unreadableDocument } from './events.js';

export class ClusterReader {
  readonly #store: MetadataStore;
  readonly #tell: (input: ControllerInput) => void;
  /** Versions that were told, by document name. */
  readonly #seen = new Map<string, bigint>();
  readonly #nodes = new Map<string, ClusterNode>();

  constructor(store: MetadataStore, tell: (input: ControllerInput) => void) {
    this.#store = store;
    this.#tell = tell;
  }

  /** Everything. Rejects with EngineError `unavailable` when the store cannot be reached; some may have been told by then. */
  async readAll(): Promise<void> {
    await Promise.all([
      this.readNodeLeases(),
      this.#readNodes(),
      this.readControllerLease(),
      this.readTable(),
      this.#readOne(PLACEMENT_ORDERS_DOCUMENT, ({ value }) => {
        this.#tell({ kind: 'orders', orders: decodePlacementOrders(value) });
      }),
    ]);
  }

  /** Rejects as `readAll` does. */
  async readNodeLeases(): Promise<void> {
    const prefix = LEASE_PREFIX + NODE_LEASE_PREFIX;
    for (const { name, ...entry } of await this.#store.list(prefix)) {
      const node = parseNodeId(name.slice(prefix.length));
      if (node === undefined) continue;
      this.#ifNewer(name, entry, () => {
        this.#tellNodeLease(node, entry);
      });
    }
  }

  /** Rejects as `readAll` does. */
  readControllerLease(): Promise<void> {
    return this.#readOne(LEASE_PREFIX + CONTROLLER_LEASE, ({ value, version }) => {
      const { note, isGone } = decodeLease(value);
      const holder = isGone ? undefined : parseNodeId(note);
      this.#tell({ kind: 'controller-lease', holder, revision: version });
    });
  }

  /** Rejects as `readAll` does. */
  readTable(): Promise<void> {
    return this.#readOne(PARTITION_TABLE_DOCUMENT, ({ value, version }) => {
      this.#tell({ kind: 'table', table: decodePartitionTable(value), revision: version });
    });
  }

  async #readNodes(): Promise<void> {
    const changed: string[] = [];
    for (const { name, ...entry } of await this.#store.list(NODE_DOCUMENT_PREFIX)) {
      this.#ifNewer(name, entry, () => {
        this.#nodes.set(name, decodeNode(entry.value));
        changed.push(name);
      });
    }
    if (changed.length > 0) this.#tell({ kind: 'nodes', nodes: [...this.#nodes.values()] });
  }

  #tellNodeLease(node: NodeId, { value, version }: MetadataEntry): void {
    const { isGone, ttlMs } = decodeLease(value);
    if (isGone) this.#tell({ kind: 'goodbye', node, revision: version });
    else this.#tell({ kind: 'node-lease', node, revision: version, ttlMs });
  }

  async #readOne(name: string, tell: (entry: MetadataEntry) => void): Promise<void> {
    const entry = await this.#store.get(name);
    if (entry === undefined) return;
    this.#ifNewer(name, entry, () => {
      tell(entry);
    });
  }

  /** A document that cannot be read is told once and left aside until it changes. */
  #ifNewer(name: string, { version }: MetadataEntry, body: () => void): void {
    if ((this.#seen.get(name) ?? 0n) >= version) return;
    this.#seen.set(name, version);
    try {
      body();
    } catch (error) {
      unreadableDocument(name, error);
    }
  }
}
