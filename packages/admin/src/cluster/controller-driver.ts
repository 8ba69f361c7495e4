/**
 * Drives a `Controller` (docs/design/placement.md): reads documents and leases in rounds, hears and probes the workers, performs what the
 * machine says. Every admin runs one; the lease decides which of them acts, the others are ready to.
 */

import {
  Controller,
  DEFAULT_TUNING,
  Rendezvous,
  type ControllerAction,
  type ControllerInput,
  type ControllerTuning,
} from '@engine/cluster';
import type { ClusterConfiguration, NodeId } from '@engine/domain';
import { leaseTimes, type MetadataStore } from '@engine/metadata';
import {
  delay,
  TaskGroup,
  type Cancellable,
  type Clock,
  type Scheduler,
  type Service,
} from '@engine/runtime';
import type { NodeControl } from '@engine/wire';

import { ClusterPicture } from './cluster-picture.js';
import { ClusterReader } from './cluster-reader.js';
import { ControllerWrites } from './controller-writes.js';
import { activityChanged, storeFailed, workersSilent } from './events.js';
import { raiseFormat } from './format-raise.js';
import { NodeEars } from './node-ears.js';
import { probeTcp, type Probe } from './tcp-probe.js';

/** Leases are renewed once a second or less often. */
const ROUND_INTERVAL_MS = 500;

const TICK_INTERVAL_MS = 250;

/** The format in force is looked at about every ten seconds. */
const ROUNDS_PER_FORMAT_CHECK = 20;

/** What is under way gets so long when the process stops. */
const STOP_MS_MAX = 2_000;

export interface ControllerDriverOptions {
  readonly cluster: ClusterConfiguration;
  /** As for the leases of nodes; at least LEASE_TTL_MS_MIN. */
  readonly leaseTtlMs: number;
  readonly tuning?: Partial<ControllerTuning>;
}

export interface ControllerDriverDependencies {
  readonly store: MetadataStore;
  /** This process as a node; started before the driver. */
  readonly member: {
    readonly id: NodeId;
    readonly incarnation: number;
    onAccess(listener: (isGood: boolean) => void): Disposable;
  };
  /** The way to each worker, this process included if it is one. */
  readonly control: (node: NodeId) => NodeControl | undefined;
  /** XXH3 of 64 bits. */
  readonly hash: (bytes: Uint8Array) => bigint;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Default: TCP. */
  readonly probe?: Probe;
}

export class ControllerDriver implements Service {
  readonly #options: ControllerDriverOptions;
  readonly #dependencies: ControllerDriverDependencies;
  readonly #controller: Controller;
  readonly #picture: ClusterPicture;
  readonly #reader: ClusterReader;
  readonly #ears: NodeEars;
  readonly #tasks: TaskGroup;
  #writes: ControllerWrites | undefined;
  #accessWatch: Disposable | undefined;
  #timer: Cancellable | undefined;
  #isActive = false;
  #formatVersion: number;
  /** Of the controller lease, as this process wrote it last. */
  #leaseRevision: bigint | undefined;

  constructor(options: ControllerDriverOptions, dependencies: ControllerDriverDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { cluster, leaseTtlMs, tuning = {} } = options;
    const { member, store, hash, scheduler, probe = probeTcp } = dependencies;
    const times = leaseTimes(leaseTtlMs);
    const { partitionCount, formatVersion } = cluster;
    this.#controller = new Controller(
      { ...DEFAULT_TUNING, ...tuning, self: member.id, partitionCount, formatVersion, times },
      new Rendezvous(hash),
    );
    this.#formatVersion = formatVersion;
    this.#picture = new ClusterPicture(times);
    const tell = this.#tell;
    this.#reader = new ClusterReader(store, tell);
    this.#ears = new NodeEars({ ...dependencies, self: member.id, probe, tell });
    this.#tasks = new TaskGroup(scheduler);
  }

  get self(): NodeId {
    return this.#dependencies.member.id;
  }

  get cluster(): ClusterConfiguration {
    return this.#options.cluster;
  }

  /** In force, as this process saw last. */
  get formatVersion(): number {
    return this.#formatVersion;
  }

  get picture(): ClusterPicture {
    return this.#picture;
  }

  /** True while this process decides. */
  get isController(): boolean {
    return this.#controller.isActive(this.now());
  }

  /** Who holds the controller lease, as far as is known here. */
  get controller(): NodeId | undefined {
    return this.#controller.holder;
  }

  /** Of the monotonic clock by which the picture judges. */
  now(): number {
    return this.#dependencies.clock.monotonic();
  }

  /** Resolves at once: the first round may take as long as the store needs. */
  start(): Promise<void> {
    const { store, clock, scheduler, member } = this.#dependencies;
    this.#writes = new ControllerWrites(
      {
        self: member.id,
        holder: `${member.id}/${String(member.incarnation)}`,
        ttlMs: this.#options.leaseTtlMs,
      },
      {
        store,
        reader: this.#reader,
        clock,
        scheduler,
        signal: this.#tasks.signal,
        table: () => this.#picture.table,
        tell: this.#tell,
      },
    );
    this.#accessWatch = member.onAccess((isGood) => {
      this.#tell(isGood ? { kind: 'access-succeeded', of: 'write' } : { kind: 'access-failed' });
    });
    this.#tasks.run((signal) => this.#rounds(signal));
    this.#ears.start();
    this.#later();
    return Promise.resolve();
  }

  /** Reads everything now. Rejects with EngineError `unavailable` when the store cannot be reached. */
  async refresh(): Promise<void> {
    try {
      await this.#reader.readAll();
      this.#tell({ kind: 'access-succeeded', of: 'read' });
    } catch (error) {
      this.#tell({ kind: 'access-failed' });
      throw error;
    }
  }

  /** Effects: the controller lease is free, so that another admin takes it at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    const isHolder = this.#controller.holder === this.self;
    this.#timer?.cancel();
    this.#accessWatch?.[Symbol.dispose]();
    this.#ears[Symbol.dispose]();
    await this.#tasks.stop(STOP_MS_MAX);
    if (!isHolder || this.#leaseRevision === undefined) return;
    await this.#writes?.release(this.#leaseRevision).catch(storeFailed);
  }

  readonly #tell = (input: ControllerInput): void => {
    const now = this.now();
    if (input.kind === 'nodes') this.#ears.setNodes(input.nodes);
    if (input.kind === 'lease-written') this.#leaseRevision = input.revision;
    this.#picture.hear(input, now);
    for (const action of this.#controller.step(input, now)) this.#perform(action);
  };

  #later(): void {
    this.#timer = this.#dependencies.scheduler.after(TICK_INTERVAL_MS, () => {
      this.#tick();
      this.#later();
    });
  }

  #tick(): void {
    if (this.#tasks.signal.aborted) return;
    this.#tell({ kind: 'tick' });
    const { isController } = this;
    if (isController !== this.#isActive) activityChanged(isController);
    this.#isActive = isController;
  }

  #perform(action: ControllerAction): void {
    if (action.kind === 'alarm') {
      workersSilent(action.silent);
      this.#picture.alarmed({ nodes: action.silent, at: this.#dependencies.clock.now() });
      return;
    }
    this.#tasks.run(async () => {
      await this.#writes?.perform(action);
      this.#tick();
    });
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    let isSynced = false;
    for (let round = 1; !signal.aborted; round += 1) {
      try {
        await this.refresh();
        if (!isSynced) this.#tell({ kind: 'synced' });
        isSynced = true;
        if (round % ROUNDS_PER_FORMAT_CHECK === 1) await this.#checkFormat();
        this.#tick();
      } catch (error) {
        storeFailed(error);
      }
      await delay(this.#dependencies.scheduler, ROUND_INTERVAL_MS, signal);
    }
  }

  async #checkFormat(): Promise<void> {
    const { store } = this.#dependencies;
    const nodes = this.isController ? this.#picture.nodes : [];
    this.#formatVersion = (await raiseFormat(store, nodes)) ?? this.#formatVersion;
  }
}
