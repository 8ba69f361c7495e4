import { setTimeout as pause } from 'node:timers/promises';

import { cpuSeconds, waitUntil, type LocalCluster } from '@engine-test/support';

import type { OwnParts } from './own-parts.js';
import type { SmallDisk } from './small-disk.js';
import type { Member, MemberRole } from './system.js';

/** A little more than the engine gives itself. */
const STOP_MS_MAX = 75_000;
const BUSY_LOOK_MS = 2_000;

/** One process of a cluster, by its name. */
export class ClusterMember implements Member {
  readonly name: string;
  readonly role: MemberRole;
  readonly cut: (() => void) | undefined;
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
    const cut = (): void => {
      cluster.cut(name);
    };
    this.cut = parts.withCuts ? cut : undefined;
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

  /** Rejects when it does not end in the time that a stop may take, with what it does instead. */
  async stop(): Promise<void> {
    const { pid = 0 } = this;
    const stopped = this.#cluster.stop(this.name);
    try {
      await waitUntil(`${this.name} ends`, () => !this.isRunning, STOP_MS_MAX);
    } catch (cause) {
      const used = cpuSeconds(pid);
      await pause(BUSY_LOOK_MS);
      const busy = ((cpuSeconds(pid) - used) / BUSY_LOOK_MS) * 1_000;
      await this.kill();
      const text = `${String(cause)}; it used ${busy.toFixed(2)} of a processor`;
      throw new Error(text, { cause });
    }
    await stopped;
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
