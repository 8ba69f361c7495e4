/** A cluster as somebody sees it who sees everything: who leads, who follows, and how far they are. */

import {
  toPartitionId,
  type NodeId,
  type PartitionId,
  type PartitionReport,
  type PartitionTable,
} from '@engine/domain';
import { decodePartitionTable, PARTITION_TABLE_DOCUMENT } from '@engine/metadata';

import type { EventLoop } from '../simulator/event-loop.js';
import type { SimDocuments } from './documents.js';
import type { LogTruth } from './log-truth.js';
import type { WorkerNode } from './worker-node.js';

const LOOK_MS = 200;

type Reports = ReadonlyMap<PartitionId, PartitionReport>;

const NOTHING: Reports = new Map();

export interface ClusterPictureDependencies {
  readonly loop: EventLoop;
  readonly documents: SimDocuments;
  readonly truth: LogTruth;
  readonly workers: readonly WorkerNode[];
}

export class ClusterPicture {
  readonly #dependencies: ClusterPictureDependencies;
  readonly #reports = new Map<NodeId, Reports>();
  #table: { readonly version: bigint; readonly table: PartitionTable } | undefined;

  constructor(dependencies: ClusterPictureDependencies) {
    this.#dependencies = dependencies;
    this.#look();
  }

  get table(): PartitionTable | undefined {
    const entry = this.#dependencies.documents.peek(PARTITION_TABLE_DOCUMENT);
    if (entry === undefined) return undefined;
    if (this.#table?.version !== entry.version) {
      this.#table = { version: entry.version, table: decodePartitionTable(entry.value) };
    }
    return this.#table.table;
  }

  /** Those of the table. */
  get partitions(): readonly PartitionId[] {
    return (this.table?.partitions ?? []).map((_, id) => toPartitionId(id));
  }

  report(node: WorkerNode, partition: PartitionId): PartitionReport | undefined {
    return this.#reports.get(node.id)?.get(partition);
  }

  /** The worker that the table names and that serves; undefined while there is none. */
  leaderOf(partition: PartitionId): WorkerNode | undefined {
    const named = this.table?.partitions[partition];
    const node = this.#dependencies.workers.find(({ id }) => id === named?.leader);
    if (node?.worker === undefined || node.isFrozen) return undefined;
    const report = this.report(node, partition);
    return report?.phase === 'leader' && report.epoch === named?.epoch ? node : undefined;
  }

  standbysOf(partition: PartitionId): readonly WorkerNode[] {
    const standbys = this.table?.partitions[partition]?.standbys ?? [];
    return this.#dependencies.workers.filter(({ id }) => standbys.includes(id));
  }

  get isServed(): boolean {
    return (
      this.table !== undefined &&
      this.partitions.every((partition) => this.leaderOf(partition) !== undefined)
    );
  }

  /** Served, and every replica that the table names has all that is in the log. */
  get isAtRest(): boolean {
    return this.isServed && this.partitions.every((partition) => this.#isFollowed(partition));
  }

  #isFollowed(partition: PartitionId): boolean {
    const { sequence } = this.#dependencies.truth.end(partition);
    const leader = this.leaderOf(partition);
    const replicas = [...(leader === undefined ? [] : [leader]), ...this.standbysOf(partition)];
    return replicas.every((node) => {
      const report = this.report(node, partition);
      return report?.applied === sequence && (node === leader || report.isCaughtUp);
    });
  }

  #look(): void {
    const { loop, workers } = this.#dependencies;
    for (const node of workers) {
      const { control } = node;
      if (control === undefined) this.#reports.set(node.id, NOTHING);
      else {
        void control.reports().then((reports) => {
          this.#reports.set(node.id, reports);
        });
      }
    }
    loop.after(LOOK_MS, () => {
      this.#look();
    });
  }
}
