/** A simulated cluster, and questions about how it is. */

import type { NodeId, PartitionTable, PlacementOrders } from '@engine/domain';
import { type LeaseTimes, leaseTimes } from '@engine/metadata';

import { DEFAULT_TUNING, type ControllerTuning } from '../../controller/controller.js';
import { Rendezvous } from '../../placement/rendezvous.js';
import { SimAdmin } from './admin.js';
import { SimDocuments, simChecksum, SimLog } from './stores.js';
import { Watchdog } from './watchdog.js';
import { SimWorker } from './worker.js';
import { World } from './world.js';

export interface ClusterOptions {
  readonly seed: number;
  readonly workerCount: number;
  readonly adminCount: number;
  readonly partitionCount: number;
  readonly tuning?: Partial<ControllerTuning>;
}

export class SimCluster {
  readonly world: World;
  readonly times: LeaseTimes = leaseTimes(15_000);
  readonly documents: SimDocuments;
  readonly log: SimLog;
  readonly watch: Watchdog;
  readonly workers: SimWorker[] = [];
  readonly admins: SimAdmin[] = [];
  /** Faults that would begin or end later do not any more. */
  isHealed = false;

  constructor(options: ClusterOptions) {
    const { seed, workerCount, adminCount, partitionCount } = options;
    this.world = new World(seed);
    this.documents = new SimDocuments(this.world);
    this.log = new SimLog(this.world, partitionCount);
    this.watch = new Watchdog(this.world, this.log);
    const common = { world: this.world, documents: this.documents, times: this.times };
    const surroundings = {
      ...common,
      log: this.log,
      watch: this.watch,
      partitionCount,
      peers: this.workers,
      report: (worker: SimWorker) => {
        for (const admin of this.admins) admin.hearReport(worker);
      },
    };
    for (let i = 0; i < workerCount; i += 1) {
      this.workers.push(new SimWorker(`w${i}`, undefined, surroundings));
    }
    const rendezvous = new Rendezvous(simChecksum);
    const tuning = { ...DEFAULT_TUNING, ...options.tuning };
    for (let i = 0; i < adminCount; i += 1) {
      const rest = { partitionCount, rendezvous, tuning, workers: this.workers };
      this.admins.push(new SimAdmin(`a${i}`, { ...common, ...rest }));
    }
    this.watch.workers = this.workers;
  }

  get processes(): readonly (SimWorker | SimAdmin)[] {
    return [...this.workers, ...this.admins];
  }

  start(): void {
    for (const process of this.processes) process.start();
  }

  /** Everything works again: who is dead starts, who is frozen thaws. */
  heal(): void {
    this.world.note('everything is mended');
    this.isHealed = true;
    this.world.mendAll();
    this.log.isUp = true;
    this.documents.isUp = true;
    this.log.lateness = 0;
    this.log.falseRefusals = 0;
    this.log.delay = { min: 1, max: 10 };
    this.documents.delay = { min: 1, max: 10 };
    for (const process of this.processes) {
      process.thaw();
      process.start();
    }
    for (const worker of this.workers) {
      if (!worker.isLeaving) continue;
      worker.kill();
      worker.start();
    }
  }

  order(orders: PlacementOrders): void {
    const [admin] = this.admins;
    if (admin === undefined) return;
    this.documents.put(admin, { name: 'orders', value: orders }, () => undefined);
  }

  get table(): PartitionTable | undefined {
    return this.documents.entries.get('table')?.value as PartitionTable | undefined;
  }

  worker(id: NodeId): SimWorker | undefined {
    return this.workers.find((worker) => worker.id === id);
  }

  /** Workers that lead the partition and run attempts, and are no zombies. */
  leadersOf(partition: number): readonly SimWorker[] {
    const epoch = this.log.records[partition]?.at(-1)?.epoch;
    return this.workers.filter((worker) => {
      const replica = worker.replica(partition);
      const isLeading = replica?.machine.phase === 'leader' && replica.runsAttempts;
      return worker.isUp && !worker.isFrozen && isLeading && replica.machine.report.epoch === epoch;
    });
  }

  get isServed(): boolean {
    return this.log.records.every((_, partition) => this.leadersOf(partition).length === 1);
  }

  leaderCounts(): readonly number[] {
    return this.workers.map(
      ({ id }) => this.table?.partitions.filter(({ leader }) => leader === id).length ?? 0,
    );
  }

  /** Served, as the table says, balanced within one, with standbys that follow. */
  get isAtRest(): boolean {
    const counts = this.leaderCounts();
    const isBalanced = Math.max(...counts) - Math.min(...counts) <= 1;
    const partitions = this.table?.partitions ?? [];
    const isFollowed = partitions.every(({ standbys }, partition) =>
      standbys.every((id) => this.worker(id)?.replica(partition)?.machine.report.isCaughtUp),
    );
    const isNamed = partitions.every(
      ({ leader }, partition) => this.leadersOf(partition)[0]?.id === leader,
    );
    return this.isServed && isBalanced && isFollowed && isNamed;
  }
}
