/** A cluster of real processes on this machine: three nats-servers, two admins, two ingresses and some workers. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { LocalCluster, type LocalClusterOptions } from '@engine-test/support';

import { ClockFile } from './clock-file.js';
import { isSettled, readCluster } from './cluster-picture.js';
import { SmallDisk } from './small-disk.js';
import type { Member, MemberRole, System } from './system.js';

const CLUSTER_NAME = 'fault';
/** Of a worker's own store. */
const DISK_MEGABYTES = 384;
/** Of all nats-servers together. */
const LOG_DISK_MEGABYTES = 4_096;

export interface ClusterSystemOptions extends Omit<LocalClusterOptions, 'envOf' | 'directory'> {
  readonly partitionCount: number;
}

export class ClusterSystem implements System {
  readonly kind = 'cluster';
  readonly partitionCount: number;
  readonly cluster: LocalCluster;
  readonly #parts: OwnParts;
  #members: readonly Member[] = [];

  private constructor(cluster: LocalCluster, parts: OwnParts, partitionCount: number) {
    this.cluster = cluster;
    this.#parts = parts;
    this.partitionCount = partitionCount;
  }

  static async start(options: ClusterSystemOptions): Promise<ClusterSystem> {
    const parts = new OwnParts();
    try {
      const cluster = await LocalCluster.start({
        ...options,
        env: { ...options.env, ENGINE_CLUSTER_NAME: CLUSTER_NAME },
        directory: join(parts.directory, 'cluster'),
        natsOptions: parts.logDisk === undefined ? {} : { directory: parts.logDisk.path },
        envOf: (name) => parts.envOf(name),
      });
      return new ClusterSystem(cluster, parts, options.partitionCount);
    } catch (error) {
      parts[Symbol.dispose]();
      throw error;
    }
  }

  get ingressUrls(): readonly string[] {
    return this.cluster.ingressUrls();
  }

  get adminUrl(): string {
    const names = this.cluster.names('admin');
    const running = names.findIndex((name) => this.cluster.isRunning(name));
    return this.cluster.adminUrls()[Math.max(running, 0)] ?? '';
  }

  /** Those that are part of the cluster now. */
  get members(): readonly Member[] {
    const names = this.cluster.names();
    const known = new Map(this.#members.map((member) => [member.name, member]));
    this.#members = names.map(
      (name) => known.get(name) ?? new ClusterMember(name, this.cluster, this.#parts),
    );
    return this.#members;
  }

  async leaders(): Promise<ReadonlyMap<number, string>> {
    const leaders = await this.cluster.leaders();
    const known = [...leaders].filter((entry): entry is [number, string] => entry[1] !== undefined);
    return new Map(known);
  }

  /** All processes run; every partition has a leader that leads and as many caught-up standbys as there may be. */
  async isWhole(): Promise<boolean> {
    if (!this.members.every(({ isRunning }) => isRunning)) return false;
    const picture = await readCluster(this.cluster.adminUrls());
    return picture !== undefined && isSettled(picture, this.cluster.names('worker'));
  }

  register(uri: string): Promise<void> {
    return this.cluster.register(uri);
  }

  async logLeader(partition: number): Promise<string | undefined> {
    const stream = `engine_${CLUSTER_NAME}_log_${String(partition)}_1`;
    const node = await this.cluster.nats.streamLeader(stream);
    return node === undefined ? undefined : `nats-${String(node + 1)}`;
  }

  addWorker(): Promise<string> {
    return this.cluster.addWorker();
  }

  removeWorker(name: string): Promise<void> {
    return this.cluster.removeWorker(name);
  }

  get fillLogDisk(): (() => void) | undefined {
    const disk = this.#parts.logDisk;
    if (disk === undefined) return undefined;
    return () => {
      disk.fill();
    };
  }

  freeLogDisk(): void {
    this.#parts.logDisk?.free();
  }

  outputOf(name: string): string {
    return this.cluster.output(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]();
    this.#parts[Symbol.dispose]();
  }
}

/** What this test gives to the processes: clocks that can be moved, and disks that can be filled. */
class OwnParts implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'engine-fault-'));
  readonly logDisk = SmallDisk.mount(join(this.directory, 'disk-nats'), LOG_DISK_MEGABYTES);
  readonly #clocks = new Map<string, ClockFile>();
  readonly #disks = new Map<string, SmallDisk | undefined>();

  clock(name: string): ClockFile {
    const known = this.#clocks.get(name) ?? new ClockFile(join(this.directory, `clock-${name}`));
    this.#clocks.set(name, known);
    return known;
  }

  /** Of workers, where something may be mounted. */
  disk(name: string): SmallDisk | undefined {
    if (this.#disks.has(name)) return this.#disks.get(name);
    const disk = name.startsWith('worker')
      ? SmallDisk.mount(join(this.directory, `disk-${name}`), DISK_MEGABYTES)
      : undefined;
    this.#disks.set(name, disk);
    return disk;
  }

  envOf(name: string): Readonly<Record<string, string>> {
    const disk = this.disk(name);
    const env = this.clock(name).env;
    return disk === undefined ? env : { ...env, ENGINE_BASE_DIR: disk.path };
  }

  [Symbol.dispose](): void {
    this.logDisk?.[Symbol.dispose]();
    for (const disk of this.#disks.values()) disk?.[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

class ClusterMember implements Member {
  readonly name: string;
  readonly role: MemberRole;
  readonly cut: () => void;
  readonly moveClock: ((ms: number) => void) | undefined;
  readonly fillDisk: (() => void) | undefined;
  readonly #cluster: LocalCluster;
  readonly #disk: SmallDisk | undefined;

  constructor(name: string, cluster: LocalCluster, parts: OwnParts) {
    this.name = name;
    this.role = roleOf(name);
    this.#cluster = cluster;
    this.#disk = parts.disk(name);
    const disk = this.#disk;
    this.cut = () => {
      cluster.cut(name);
    };
    // A nats-server is no Node process; its clock can't be moved from here.
    const moveClock = (ms: number): void => {
      parts.clock(name).move(ms);
    };
    this.moveClock = this.role === 'nats' ? undefined : moveClock;
    const fill = (): void => {
      disk?.fill();
    };
    this.fillDisk = disk === undefined ? undefined : fill;
  }

  get pid(): number | undefined {
    return this.#cluster.pid(this.name);
  }

  get isRunning(): boolean {
    return this.#cluster.isRunning(this.name);
  }

  kill(): Promise<void> {
    return this.#cluster.kill(this.name);
  }

  async stop(): Promise<void> {
    await this.#cluster.stop(this.name);
  }

  start(): Promise<void> {
    return this.#cluster.start(this.name);
  }

  freeze(): void {
    this.#cluster.freeze(this.name);
  }

  thaw(): void {
    this.#cluster.thaw(this.name);
  }

  mend(): void {
    this.#cluster.heal(this.name);
  }

  freeDisk(): void {
    this.#disk?.free();
  }
}

function roleOf(name: string): MemberRole {
  const [role = ''] = name.split('-');
  if (role === 'nats' || role === 'ingress' || role === 'admin' || role === 'worker') return role;
  throw new Error(`${name} has no role`);
}
