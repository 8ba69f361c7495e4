/** A simulated worker: its node document, its lease, and a replica of each partition in which it has a part. */

import type { ClusterNode, PartitionTable } from '@engine/domain';
import type { LogRecord } from '@engine/log';
import { LeaseHolder, type LeaseState, type LeaseTimes } from '@engine/metadata';

import { assignmentOf } from '../../leadership/leadership-io.js';
import type { Watchdog } from './watchdog.js';
import { Process } from './process.js';
import { SimReplica, type ReplicaHost } from './replica.js';
import type { Entry, SimDocuments, SimLog } from './stores.js';
import type { World } from './world.js';

export interface WorkerSurroundings {
  readonly world: World;
  readonly documents: SimDocuments;
  readonly log: SimLog;
  readonly watch: Watchdog;
  readonly times: LeaseTimes;
  readonly partitionCount: number;
  /** All workers, this one included; filled after they are made. */
  readonly peers: readonly SimWorker[];
  /** Tells every admin what this worker reports. */
  readonly report: (worker: SimWorker) => void;
}

export class SimWorker extends Process implements ReplicaHost {
  readonly #surroundings: WorkerSurroundings;
  readonly #zone: string | undefined;
  readonly #disks: LogRecord[][];
  #replicas: SimReplica[] = [];
  #lease: LeaseHolder;
  #leaseState: LeaseState = 'lost';
  /** Own last revision; undefined: to be taken anew. */
  #leaseRevision: bigint | undefined;
  /** A question about the lease is on its way. */
  #isLooking = false;
  #sentAt = -Infinity;
  #renewedAt = -Infinity;
  #table: { readonly table: PartitionTable; readonly revision: bigint } | undefined;
  isLeaving = false;

  constructor(id: string, zone: string | undefined, surroundings: WorkerSurroundings) {
    super(id, surroundings.world);
    this.#surroundings = surroundings;
    this.#zone = zone;
    this.#lease = new LeaseHolder(surroundings.times);
    this.#disks = Array.from({ length: surroundings.partitionCount }, () => []);
  }

  get times(): LeaseTimes {
    return this.#surroundings.times;
  }
  get log(): SimLog {
    return this.#surroundings.log;
  }
  get watch(): Watchdog {
    return this.#surroundings.watch;
  }
  get peers(): readonly SimWorker[] {
    return this.#surroundings.peers;
  }
  get isLeaseHeld(): boolean {
    return this.#leaseState === 'held';
  }
  get replicas(): readonly SimReplica[] {
    return this.#replicas;
  }

  replica(partition: number): SimReplica | undefined {
    return this.#replicas[partition];
  }

  /** Question and answer; undefined from a replica that is not there. Nothing comes back from the dead, the frozen or the cut off. */
  ask<T>(peer: ReplicaHost, question: () => T, answer: (result: T) => void): void {
    this.world.send(this, peer, () => {
      const result = question();
      this.world.send(peer, this, () => {
        answer(result);
      });
    });
  }

  /** SIGTERM: hand over, then say goodbye and end. */
  leave(): void {
    this.isLeaving = true;
    this.#register();
    this.every(200, () => {
      const isNamed = this.#table?.table.partitions.some(({ leader }) => leader === this.id);
      const hasLetGo = this.#replicas.every(({ machine }) => machine.hasLetGo);
      if (isNamed === true || !hasLetGo || !this.isLeaving) return;
      const value = { incarnation: this.incarnation, bye: true };
      this.#surroundings.documents.put(this, { name: `lease.${this.id}`, value }, () => {
        this.kill();
      });
    });
  }

  protected onStart(): void {
    const { partitionCount, documents } = this.#surroundings;
    this.isLeaving = false;
    this.#lease = new LeaseHolder(this.times);
    this.#leaseState = 'lost';
    this.#leaseRevision = undefined;
    this.#isLooking = false;
    this.#sentAt = -Infinity;
    this.#renewedAt = -Infinity;
    this.#table = undefined;
    this.#replicas = Array.from({ length: partitionCount }, (_, partition) => {
      const disk = this.#disks[partition] ?? [];
      return new SimReplica(this, partition, disk);
    });
    documents.watch(this, (name, entry) => {
      if (name === 'table') this.#onTable(entry);
    });
    this.#register();
    for (const replica of this.#replicas) replica.begin();
    this.every(250, () => {
      this.#tick();
    });
    this.every(1_500, () => {
      documents.readAll(this, (entries) => {
        const entry = entries?.get('table');
        if (entry !== undefined) this.#onTable(entry);
      });
    });
    this.every(400, () => {
      this.#surroundings.report(this);
    });
  }

  protected onKill(): void {
    for (const replica of this.#replicas) replica.crash();
  }

  protected onThaw(): void {
    this.#checkLease();
  }

  #tick(): void {
    this.#checkLease();
    for (const replica of this.#replicas) replica.tell({ kind: 'tick' });
    const { now } = this.world;
    const isDue = now - this.#renewedAt >= this.times.renewalIntervalMs;
    const isRetryDue = now - this.#sentAt >= this.times.renewalRetryMs;
    if (isDue && isRetryDue && !this.#isLooking) this.#renew();
  }

  #checkLease(): void {
    const state = this.#lease.state(this.world.now);
    if (state === this.#leaseState) return;
    this.#leaseState = state;
    this.world.note(`${this.id} lease ${state}`);
    for (const replica of this.#replicas) replica.tell({ kind: 'lease', state });
  }

  #renew(): void {
    const sentAt = this.world.now;
    this.#sentAt = sentAt;
    // The first one of a life waits for its answer; later ones are sent again.
    if (this.#leaseRevision === undefined) this.#isLooking = true;
    const value = { incarnation: this.incarnation, bye: false };
    const expected = this.#leaseRevision;
    const write = {
      name: `lease.${this.id}`,
      value,
      ...(expected === undefined ? {} : { expected }),
    };
    this.#surroundings.documents.put(this, write, (result) => {
      if (result === undefined) this.#isLooking = false;
      else if (result === 'conflict') this.#lookAtLease();
      else if (expected === undefined)
        this.#readTableThen(() => {
          this.#renewed(result, sentAt);
        });
      else this.#renewed(result, sentAt);
    });
  }

  #renewed(revision: bigint, sentAt: number): void {
    this.#isLooking = false;
    if (this.#leaseRevision === undefined || revision > this.#leaseRevision) {
      this.#leaseRevision = revision;
    }
    this.#renewedAt = Math.max(this.#renewedAt, sentAt);
    this.#lease.renewed(sentAt);
    this.#checkLease();
  }

  /** Somebody wrote: this process without getting the answer, or one who buried it. */
  #lookAtLease(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#surroundings.documents.readAll(this, (entries) => {
      this.#isLooking = false;
      const entry = entries?.get(`lease.${this.id}`);
      if (entry === undefined) return;
      const isBuried = (entry.value as { readonly bye: boolean }).bye;
      this.#leaseRevision = isBuried ? undefined : entry.revision;
      if (!isBuried) return;
      this.#lease.lost(this.world.now);
      this.#checkLease();
    });
  }

  #readTableThen(done: () => void): void {
    this.#surroundings.documents.readAll(this, (entries) => {
      if (entries === undefined) {
        this.#isLooking = false;
        return;
      }
      const entry = entries.get('table');
      if (entry !== undefined) this.#onTable(entry);
      done();
    });
  }

  #register(): void {
    const value: ClusterNode = {
      id: this.id,
      incarnation: this.incarnation,
      roles: ['worker'],
      addresses: { internal: `${this.id}:1`, ingress: undefined, admin: undefined },
      zone: this.#zone,
      binaryVersion: '0',
      formats: { min: 1, max: 1 },
      isLeaving: this.isLeaving,
    };
    this.#surroundings.documents.put(this, { name: `node.${this.id}`, value }, (result) => {
      if (result === undefined) this.#register();
    });
  }

  #onTable({ value, revision }: Entry): void {
    if (this.#table !== undefined && revision <= this.#table.revision) return;
    const table = value as PartitionTable;
    this.#table = { table, revision };
    for (const replica of this.#replicas) {
      const assignment = assignmentOf(table, replica.partition, this.id);
      replica.tell({ kind: 'assigned', assignment });
    }
  }
}
