/**
 * A worker process: `Worker` and `Hosting` that ship, over the replica stores that ship, on a disk that outlives it, with the logs, the
 * documents and the other nodes at the end of simulated links.
 */

import type { Hashes, PartitionId, SchemaLookup } from '@engine/domain';
import type { LogPosition, SharedLog } from '@engine/log';
import type { LeaveOutcome } from '@engine/membership';
import type { LeaseState } from '@engine/metadata';
import { TABLES, type KvEntry } from '@engine/storage';
import { positionRow, type NodeControl } from '@engine/wire';
import type { DeploymentTransport, Worker, WorkerOptions } from '@engine/worker';

import type { SimDisk } from '../simulator/disk.js';
import type { ServerProcess } from '../simulator/process.js';
import type { ControlStation } from './node-controls.js';
import { SimNode, type NodeSurroundings } from './sim-node.js';
import type { SimSnapshots } from './snapshots.js';
import type { WorkerDoor, WorkerStation } from './way.js';
import { startWorker, type RunningWorker, type WorkerParts } from './worker-parts.js';

export interface WorkerSurroundings extends NodeSurroundings, WorkerParts {
  readonly hashes: Hashes;
  readonly schema: () => SchemaLookup;
  readonly snapshots: SimSnapshots;
  /** Settings of each process that starts on a node; versions may differ. */
  readonly optionsOf: (node: string) => WorkerOptions;
  readonly transportFor: (process: ServerProcess) => DeploymentTransport;
  readonly openLog: (node: WorkerNode, partition: PartitionId) => SharedLog;
  /** A process is gone. */
  readonly onDeath: (process: ServerProcess) => void;
}

/** Where the rows of a partition stand; undefined when there are none. Keys are relative to the partition. */
function positionOf(rows: readonly KvEntry[]): LogPosition | undefined {
  const stored = rows.find(({ key }) => key.length === 1 && key[0] === TABLES.position);
  if (stored === undefined) return undefined;
  const { epoch, sequence, chain } = positionRow.read(stored.value);
  return { epoch, sequence, chain };
}

export class WorkerNode extends SimNode implements WorkerStation, ControlStation {
  readonly disk: SimDisk;
  readonly #cluster: WorkerSurroundings;
  #running: RunningWorker | undefined;
  /** The next death is a power cut. */
  #isCut = false;
  #lost = 0;

  constructor(id: string, disk: SimDisk, surroundings: WorkerSurroundings) {
    super(id, surroundings);
    this.disk = disk;
    this.#cluster = surroundings;
  }

  get worker(): Worker | undefined {
    return this.#running?.worker;
  }

  get door(): WorkerDoor | undefined {
    return this.#running?.door;
  }

  get control(): NodeControl | undefined {
    return this.#running?.hosting;
  }

  /** As the process says; `lost` while none runs. */
  get leaseState(): LeaseState {
    return this.#running?.member.leaseState ?? 'lost';
  }

  /** It dies, and its disk loses what was written in the middle of what was not synced: so many batches. */
  cutPower(): { readonly lost: number } {
    this.#isCut = true;
    this.#lost = 0;
    this.kill('the power was cut');
    this.#isCut = false;
    return { lost: this.#lost };
  }

  /** An orderly end: hands over, says goodbye, and ends. */
  async leave(limitMs: number): Promise<LeaveOutcome | undefined> {
    const running = this.#running;
    const { process } = this;
    if (running === undefined || process === undefined || this.isFrozen) return undefined;
    this.surroundings.note(`${process.name} leaves`);
    const outcome = await running.member.leave({ limitMs });
    await running.hosting[Symbol.asyncDispose]();
    await running.member[Symbol.asyncDispose]();
    process.crash(`left: ${outcome}`);
    return outcome;
  }

  /** Stores a snapshot of a partition as it stands here, and trims its log below the older of the two newest. */
  async snapshot(partition: PartitionId): Promise<void> {
    const running = this.#running;
    if (running === undefined || this.isFrozen) return;
    const { snapshots } = this.#cluster;
    const rows: KvEntry[] = [];
    for await (const page of (await running.stores.rows(partition)) ?? []) rows.push(...page);
    const position = positionOf(rows);
    if (position === undefined) return;
    snapshots.add(partition, { position, rows });
    const trimmable = snapshots.trimmable(partition);
    if (trimmable !== undefined) await running.openLog(partition).trim(trimmable);
    this.surroundings.note(
      `${this.id} took a snapshot of ${String(partition)} at ${String(position.sequence)}`,
    );
  }

  protected override async run(process: ServerProcess): Promise<void> {
    const onFatal = (error: unknown): void => {
      this.failed(process, error);
    };
    const running = await startWorker({ node: this, process, cluster: this.#cluster, onFatal });
    if (process.isAlive) this.#running = running;
  }

  protected override died(process: ServerProcess): void {
    const running = this.#running;
    this.#running = undefined;
    const { lost, landed } = this.#isCut ? this.disk.powerCut() : this.disk.crash();
    this.#lost = lost;
    this.surroundings.note(`${process.name} lost ${String(lost)}, landed ${String(landed)}`);
    this.#cluster.onDeath(process);
    running?.worker.kill();
  }
}
