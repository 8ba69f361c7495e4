/** One engine process with all roles. Its faults are visible to callers: there is nobody else. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { EngineProcess } from '@engine-test/support';

import { ClockFile } from './clock-file.js';
import { SmallDisk } from './small-disk.js';
import type { Member, System } from './system.js';

const PARTITION_COUNT = 1;
const DISK_MEGABYTES = 512;

export class EmbeddedSystem implements System {
  readonly kind = 'embedded';
  readonly partitionCount = PARTITION_COUNT;
  readonly members: readonly Member[];
  readonly #engine: EngineProcess;
  readonly #dir: string;
  readonly #disk: SmallDisk | undefined;

  private constructor(parts: {
    readonly engine: EngineProcess;
    readonly clock: ClockFile;
    readonly dir: string;
    readonly disk: SmallDisk | undefined;
  }) {
    this.#engine = parts.engine;
    this.#dir = parts.dir;
    this.#disk = parts.disk;
    this.members = [new EmbeddedEngine(parts.engine, parts.clock, parts.disk)];
  }

  static async start(env: NodeJS.ProcessEnv = {}): Promise<EmbeddedSystem> {
    const dir = mkdtempSync(join(tmpdir(), 'engine-fault-'));
    const disk = SmallDisk.mount(join(dir, 'disk'), DISK_MEGABYTES);
    const clock = new ClockFile(join(dir, 'clock'));
    const engine = await EngineProcess.start({
      ...clock.env,
      ENGINE_DEFAULT_NUM_PARTITIONS: String(PARTITION_COUNT),
      ...(disk === undefined ? {} : { ENGINE_BASE_DIR: disk.path }),
      ...env,
    });
    return new EmbeddedSystem({ engine, clock, dir, disk });
  }

  get ingressUrls(): readonly string[] {
    return [this.#engine.ingressUrl];
  }

  get adminUrl(): string {
    return this.#engine.adminUrl;
  }

  leaders(): Promise<ReadonlyMap<number, string>> {
    const all = Array.from({ length: PARTITION_COUNT }, (_, partition) => partition);
    return Promise.resolve(new Map(all.map((partition) => [partition, 'engine'])));
  }

  isWhole(): Promise<boolean> {
    return Promise.resolve(this.#engine.isRunning);
  }

  register(uri: string): Promise<void> {
    return this.#engine.register(uri);
  }

  /** The end of it. */
  saveLogs(directory: string): void {
    writeFileSync(join(directory, 'engine.log'), this.#engine.output);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]();
    this.#disk?.[Symbol.dispose]();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

class EmbeddedEngine implements Member {
  readonly name = 'engine';
  readonly role = 'engine';
  readonly cut = undefined;
  readonly moveClock: (ms: number) => void;
  readonly fillDisk: (() => void) | undefined;
  readonly #engine: EngineProcess;
  readonly #disk: SmallDisk | undefined;

  constructor(engine: EngineProcess, clock: ClockFile, disk: SmallDisk | undefined) {
    this.#engine = engine;
    this.#disk = disk;
    this.moveClock = (ms) => {
      clock.move(ms);
    };
    this.fillDisk =
      disk === undefined
        ? undefined
        : () => {
            disk.fill();
          };
  }

  get pid(): number | undefined {
    return this.#engine.isRunning ? this.#engine.pid : undefined;
  }

  get isRunning(): boolean {
    return this.#engine.isRunning;
  }

  kill(): Promise<void> {
    return this.#engine.crash();
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }

  start(): Promise<void> {
    return this.#engine.restart();
  }

  freeze(): void {
    if (this.pid !== undefined) process.kill(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    if (this.pid !== undefined) process.kill(this.pid, 'SIGCONT');
  }

  mend(): void {
    // Nobody else is there to be cut off from.
  }

  freeDisk(): void {
    this.#disk?.free();
  }
}
