/** A cluster on virtual time: real nodes and drivers over one store in memory, workers that do as the table says. */

import {
  loadHashes,
  toPartitionId,
  type ClusterConfiguration,
  type PartitionAssignment,
  type PartitionId,
  type PartitionPhase,
  type PartitionReport,
  type PartitionTable,
  type PlacementOrders,
} from '@engine/domain';
import { MemberBench, TTL_MS, type BenchNode } from '@engine/membership/contract';
import {
  decodePartitionTable,
  decodePlacementOrders,
  PARTITION_TABLE_DOCUMENT,
  PLACEMENT_ORDERS_DOCUMENT,
} from '@engine/metadata';
import type { NodeControl } from '@engine/wire';

import { ControllerDriver } from '../src/cluster/controller-driver.js';
import { DrivenCluster } from '../src/cluster/driven-cluster.js';
import type { ProbeOutcome } from '../src/cluster/tcp-probe.js';

const CLUSTER: ClusterConfiguration = {
  id: 'c-1',
  name: 'c',
  partitionCount: 8,
  replicas: 1,
  formatVersion: 1,
};

/** A worker that leads what the table names it for, at once, and has always read the log to its end. */
export class ScriptedWorker implements NodeControl {
  readonly node: BenchNode;
  /** What connections to its port find. */
  probe: ProbeOutcome = 'reached';
  isDead = false;
  /** Reports that take the place of what it would say. */
  readonly scripted = new Map<number, Partial<PartitionReport>>();

  constructor(node: BenchNode) {
    this.node = node;
  }

  reports(): Promise<ReadonlyMap<PartitionId, PartitionReport>> {
    if (this.isDead) return new Promise(() => undefined);
    const partitions = this.node.view.table?.partitions ?? [];
    const reports = partitions.map(
      (assignment, id) => [toPartitionId(id), this.#report(id, assignment)] as const,
    );
    return Promise.resolve(new Map(reports));
  }

  stopLeading(): Promise<void> {
    return Promise.resolve();
  }

  applied(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Killed: its port refuses, its lease stays as it is. */
  kill(): void {
    this.freeze();
    this.probe = 'refused';
  }

  /** Frozen or cut off: nothing comes back. */
  freeze(): void {
    this.isDead = true;
    this.probe = 'silent';
    this.node.store.fault = 'hanging';
  }

  #report(id: number, { leader, standbys, epoch }: PartitionAssignment): PartitionReport {
    const self = this.node.member.id;
    const phase: PartitionPhase =
      leader === self ? 'leader' : standbys.includes(self) ? 'follower' : 'idle';
    return {
      phase,
      epoch,
      logEpoch: epoch,
      applied: phase === 'leader' ? 100n : 98n,
      isCaughtUp: phase !== 'idle',
      isStuck: false,
      fault: undefined,
      ...this.scripted.get(id),
    };
  }
}

export interface ControlledAdmin {
  readonly node: BenchNode;
  readonly driver: ControllerDriver;
  readonly cluster: DrivenCluster;
}

export class ControlledCluster {
  readonly bench = new MemberBench();
  readonly workers = new Map<string, ScriptedWorker>();
  readonly #hash: (bytes: Uint8Array) => bigint;

  private constructor(hash: (bytes: Uint8Array) => bigint) {
    this.#hash = hash;
  }

  static async open(): Promise<ControlledCluster> {
    return new ControlledCluster((await loadHashes()).xxh3);
  }

  get time(): MemberBench['time'] {
    return this.bench.time;
  }

  async addWorker(id: string): Promise<ScriptedWorker> {
    const worker = new ScriptedWorker(await this.bench.start(id));
    this.workers.set(id, worker);
    return worker;
  }

  async addAdmin(id: string): Promise<ControlledAdmin> {
    const node = await this.bench.start(id, { roles: ['admin'] });
    const { time } = this.bench;
    const driver = new ControllerDriver(
      { cluster: CLUSTER, leaseTtlMs: TTL_MS },
      {
        store: node.store,
        member: node.member,
        control: (worker) => this.workers.get(worker),
        hash: this.#hash,
        clock: time,
        scheduler: time,
        probe: (address) => Promise.resolve(this.#probe(address)),
      },
    );
    await driver.start();
    return { node, driver, cluster: new DrivenCluster(driver, node.store) };
  }

  /** As it stands in the store. */
  async table(): Promise<PartitionTable> {
    const entry = await this.bench.store.get(PARTITION_TABLE_DOCUMENT);
    if (entry === undefined) throw new Error('there is no table yet');
    return decodePartitionTable(entry.value);
  }

  async orders(): Promise<PlacementOrders | undefined> {
    const entry = await this.bench.store.get(PLACEMENT_ORDERS_DOCUMENT);
    return entry === undefined ? undefined : decodePlacementOrders(entry.value);
  }

  /** How many partitions each leads, as far as the worker named knows. */
  leads(id: string): number {
    const table = [...this.workers.values()].find(({ isDead }) => !isDead)?.node.view.table;
    return (table?.partitions ?? []).filter(({ leader }) => leader === id).length;
  }

  /** Lets time pass until each worker leads as many as it says. */
  async untilLed(counts: Readonly<Record<string, number>>, limitMs = 60_000): Promise<void> {
    const what = `led: ${JSON.stringify(counts)}`;
    const isSo = (): boolean =>
      Object.entries(counts).every(([id, count]) => this.leads(id) === count);
    await this.time.untilTrue(what, isSo, limitMs);
  }

  #probe(address: string): ProbeOutcome {
    const [id = ''] = address.split(':');
    return this.workers.get(id)?.probe ?? 'silent';
  }
}
