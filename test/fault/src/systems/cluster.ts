/** A cluster of real processes on this machine: three nats-servers, two admins, two ingresses and some workers. */

import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { LocalCluster, type LocalClusterOptions } from '@engine-test/support';

import { ClusterMember } from './cluster-member.js';
import { isSettled, readCluster } from './cluster-picture.js';
import { readLogStream } from './log-stream-page.js';
import { OwnParts } from './own-parts.js';
import type { Member, System } from './system.js';

const CLUSTER_NAME = 'fault';

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
    const parts = new OwnParts(options.withNetworkCuts === true);
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
    for (const url of this.cluster.nats.monitorUrls) {
      const stream = await readLogStream(url, partition);
      const node = /^node-(\d)$/.exec(stream?.cluster?.leader ?? '')?.[1];
      if (node !== undefined) return `nats-${String(Number(node) + 1)}`;
    }
    return undefined;
  }

  /** Sequence of the last message in the log of a partition. */
  async logEnd(partition: number): Promise<number> {
    const url = this.cluster.nats.monitorUrls[0] ?? '';
    const stream = await readLogStream(url, partition);
    if (stream === undefined) throw new Error(`there is no log of ${String(partition)}`);
    return stream.state.last_seq;
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

  saveLogs(directory: string): void {
    for (const { name, role } of this.members) {
      const path = join(directory, `${name}.log`);
      if (role === 'nats') writeFileSync(path, this.cluster.output(name));
      else copyFileSync(this.cluster.logFile(name), path);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]();
    this.#parts[Symbol.dispose]();
  }
}
